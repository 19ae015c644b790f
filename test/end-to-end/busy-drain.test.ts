import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { hungBackend } from '../graph/context/backend-server.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { spawnPod } from './pod-process.ts';

const GRAPH = join(process.cwd(), 'test', 'end-to-end', 'fixtures', 'drain');
/** A quarter of it is the grace for clients that do not answer the close; `late` connects within it. */
const SHUTDOWN_TIMEOUT_MS = 12_000;

async function connected(t: TestContext, url: string): Promise<Socket> {
  const socket = await openSocket(t, url);
  await socket.init();
  return socket;
}

it(
  'drains every kind of connection and request on SIGTERM, and exits with 0 before SHUTDOWN_TIMEOUT_MS',
  { timeout: 120_000 },
  async (t) => {
    const backend = await hungBackend(t);
    const pod = await spawnPod(t, {
      GRAPH,
      SHUTDOWN_TIMEOUT_MS: `${SHUTDOWN_TIMEOUT_MS}`,
      INIT_TIMEOUT_MS: '60000',
      BACKEND_TIMEOUT_MS: '60000',
      EXECUTION_TIMEOUT_MS: '60000',
      BACKEND_HUNG_URL: backend.url,
    }).started();

    const silent = await openSocket(t, pod.url);
    const authenticating = await openSocket(t, pod.url);
    authenticating.send({ type: 'connection_init', payload: { auth: 'hang' } });
    const idle = await connected(t, pod.url);
    const subscribed = await connected(t, pod.url);
    subscribed.subscribe('a', 'subscription { flood(count: 1) }');
    await subscribed.next();
    const executing = await connected(t, pod.url);
    executing.subscribe('a', '{ hung }');
    await waitFor('the request to the backend', () => backend.requests() === 1);
    const stalled = await connected(t, pod.url);
    stalled.pause();
    stalled.subscribe('a', 'subscription { flood(count: 1) }');
    const overflowing = await connected(t, pod.url);
    overflowing.pause();
    overflowing.subscribe('a', 'subscription { flood(count: 1000) }');
    const answer = fetch(pod.url.replace('ws', 'http'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ slow(ms: 500) }"}',
    }).then((response) => response.text());
    await idle.roundTrip();

    const startedAt = performance.now();
    pod.process.kill('SIGTERM');
    assert.equal((await idle.expectClose()).code, 1001);
    const late = await openSocket(t, pod.url);
    for (const socket of [silent, authenticating, subscribed, executing, late]) {
      assert.deepEqual(await socket.expectClose(), { code: 1001, reason: 'The server is shutting down' });
      assert.deepEqual(socket.unread, []);
    }
    assert.equal(await answer, '{"data":{"slow":"done"}}');
    assert.equal(await pod.ended, 0);
    assert.ok(performance.now() - startedAt < SHUTDOWN_TIMEOUT_MS);
  },
);
