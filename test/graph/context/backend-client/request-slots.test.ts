import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { BackendsOptions } from '../../../../src/graph/context/backends.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { backendServer, backendsAt, failsWith } from '../backend-server.ts';

/** A backend that answers when the test says so. */
async function createStage(t: TestContext, options: Partial<BackendsOptions>) {
  const held: ServerResponse[] = [];
  const paths: string[] = [];
  const url = await backendServer(t, (request, response) => {
    paths.push(request.url!);
    held.push(response);
  });
  const stage = backendsAt(t, url, options);
  await stage.backends.load();
  const pressure = () => [...stage.backends.pressure()][0]![1];
  const answer = (count: number) => {
    for (const response of held.splice(0, count)) response.end('1');
  };
  return { ...stage, held, paths, pressure, answer };
}

describe('the bound on requests in flight to a backend', () => {
  it('follows a limit that changes while requests wait', async (t) => {
    let limit = 1;
    const { send, held, answer, pressure } = await createStage(t, { maxSockets: () => limit });
    const sending = Array.from({ length: 9 }, () => send('/'));
    await waitFor('the first request', () => held.length === 1);
    assert.deepEqual(pressure(), { inFlight: 1, waiting: 8, breaker: 'closed' });
    limit = 4;
    answer(1);
    await waitFor('more requests', () => held.length === 4);
    assert.deepEqual([pressure().inFlight, pressure().waiting], [4, 4]);
    limit = 2;
    answer(2);
    await waitFor('two answers', () => pressure().inFlight === 2);
    assert.deepEqual([held.length, pressure().waiting], [2, 4], 'a lower limit starts no request');
    limit = 9;
    await Promise.all([
      ...sending,
      send('/'),
      waitFor('all answers', () => {
        answer(9);
        return pressure().inFlight === 0;
      }),
    ]);
    assert.deepEqual(pressure(), { inFlight: 0, waiting: 0, breaker: 'closed' });
  });

  it('never sends a request whose deadline passed while it waited', async (t) => {
    const { send, paths, answer, pressure } = await createStage(t, { maxSockets: () => 1, timeoutMs: 400 });
    const first = failsWith('BACKEND_TIMEOUT', send('/first'));
    const late = failsWith('BACKEND_TIMEOUT', send('/late'));
    await waitFor('the first request', () => paths.length === 1);
    await Promise.all([first, late]);
    assert.deepEqual(pressure(), { inFlight: 0, waiting: 0, breaker: 'closed' });
    const next = send('/next');
    await waitFor('the next request', () => paths.length === 2);
    answer(2);
    await next;
    assert.deepEqual(paths, ['/first', '/next']);
  });

  it('keeps the order of the requests that wait', async (t) => {
    const { send, paths, answer } = await createStage(t, { maxSockets: () => 1 });
    const sending = ['/a', '/b', '/c', '/d'].map((path) => send(path));
    for (let sent = 1; sent <= 4; sent++) {
      await waitFor('a request', () => paths.length === sent);
      answer(1);
    }
    await Promise.all(sending);
    assert.deepEqual(paths, ['/a', '/b', '/c', '/d']);
  });
});
