import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { backendServer } from '../graph/context/backend-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { spawnPod } from './pod-process.ts';

const GRAPH = join(process.cwd(), 'test', 'end-to-end', 'fixtures', 'drain');

/** A client that keeps its one connection, as a load balancer does. */
function keepAliveClient(t: TestContext) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return async function get(url: string) {
    const sent = request(url, { agent, headers: { 'apollo-require-preflight': 'true' } }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    return { status: answer.statusCode, text, connection: answer.headers.connection, socket: sent.socket! };
  };
}

it('a pod that drains closes HTTP connections after their replies and idle ones without a reset, and exits with 0', async (t) => {
  const held: ServerResponse[] = [];
  const BACKEND_HUNG_URL = await backendServer(t, (_request, response) => held.push(response));
  const pod = await spawnPod(t, { GRAPH, BACKEND_HUNG_URL, DRAIN_DELAY_MS: '3600000' }).started();
  const query = `${pod.endpoint}?query={__typename}`;
  const readiness = `${pod.admin}/readyz`;
  const client = keepAliveClient(t);
  const waiting = keepAliveClient(t);
  const idle = keepAliveClient(t);
  const operator = keepAliveClient(t);
  for (const [get, url] of [
    [client, query],
    [operator, readiness],
  ] as const) {
    const [first, second] = [await get(url), await get(url)];
    assert.equal(second.socket, first.socket);
    assert.deepEqual([first.status, second.connection], [200, 'keep-alive']);
  }
  const { socket } = await idle(query);
  let error: unknown;
  socket.once('error', (reason) => (error = reason));
  const closed = once(socket, 'close');
  const earlier = waiting(`${pod.endpoint}?query={hung}`);
  await waitFor('the request to the backend', () => held.length === 1);

  pod.process.kill('SIGTERM');
  await pod.reports({ status: 'draining' });
  held[0]!.setHeader('content-type', 'application/json').end('"text"');
  assert.deepEqual((({ text, connection }) => [text, connection])(await earlier), [
    '{"data":{"hung":"text"}}',
    'close',
  ]);
  for (const [get, url, status] of [
    [client, query, 200],
    [operator, readiness, 503],
    [client, new URL('/nothing', pod.endpoint).href, 404],
  ] as const) {
    const answer = await get(url);
    assert.deepEqual([answer.status, answer.connection], [status, 'close']);
  }
  pod.process.kill('SIGTERM');
  await closed;
  assert.equal(error, undefined);
  assert.equal(await pod.ended, 0, pod.log);
});
