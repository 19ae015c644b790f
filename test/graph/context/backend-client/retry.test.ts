import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { BackendRequest } from '../../../../src/graph/context/execution-backends.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { backendServer, backendsAt, failsWith } from '../backend-server.ts';
import { manualClock } from './manual-clock.ts';

/** More than one retry for each request. */
const AMPLE = 1;

/** A backend that answers the first request to a path with its status and Retry-After, such as /503/0, and every other one with 200. */
async function createStage(t: TestContext, retryBudget = AMPLE) {
  const requests = new Map<string, number>();
  const url = await backendServer(t, (request, response) => {
    const path = `${request.method} ${request.url}`;
    const count = (requests.get(path) ?? 0) + 1;
    requests.set(path, count);
    const [, status, retryAfter] = request.url!.split('/');
    response.statusCode = count > 1 ? 200 : Number(status);
    if (retryAfter) response.setHeader('retry-after', retryAfter);
    response.end('"answer"');
  });
  return { ...backendsAt(t, url, { retryBudget, timeoutMs: 5000 }), requests };
}

/** Requests that reach a backend which answers every request with 503 and asks for a retry. */
async function outage(t: TestContext, retryBudget: number, sent: number): Promise<number> {
  let requests = 0;
  const url = await backendServer(t, (_request, response) => {
    requests++;
    response.writeHead(503, { 'retry-after': '0' }).end();
  });
  // Fewer sockets than retries that may be saved: nothing that is earned is lost, however the answers come.
  const { send } = backendsAt(t, url, { retryBudget, maxSockets: () => 5 });
  await Promise.allSettled(Array.from({ length: sent }, () => send('/')));
  return requests;
}

describe('retries of backend requests', () => {
  it('repeat a GET once when the backend asks for it within a second', async (t) => {
    const { send, retries, answers, requests } = await createStage(t);
    for (const path of ['/503/0', '/429/0', '/503/1']) assert.equal(await send(path), 'answer');
    assert.deepEqual(retries, ['OK', 'OK', 'OK']);
    assert.deepEqual([...requests.values()], [2, 2, 2]);
    assert.deepEqual(
      answers.map(({ outcome }) => outcome),
      ['OK', 'OK', 'OK'],
      'a request with its retry is one request',
    );
  });

  it('repeat a GET whose connection was closed before the response, and none whose response broke off', async (t) => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.on('error', () => undefined);
      socket.once('data', (data) => {
        if (data.includes('/broken')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n"begins');
        else if (connections === 1) socket.destroy();
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n"answer"');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { send, retries } = backendsAt(t, url, { retryBudget: AMPLE });
    assert.equal(await send('/'), 'answer');
    assert.deepEqual([connections, retries], [2, ['OK']]);
    await failsWith('BACKEND_UNAVAILABLE', send('/broken'));
    assert.deepEqual([connections, retries], [3, ['OK']]);
  });

  it('never repeat another method, another status, or a request that must wait for long', async (t) => {
    const { send, retries, requests } = await createStage(t);
    const methods: BackendRequest['method'][] = ['POST', 'PUT', 'PATCH', 'DELETE'];
    for (const method of methods) {
      await failsWith('BACKEND_ERROR', send('/503/0', { method }), { status: 503, retryAfterMs: 0 });
    }
    for (const path of ['/500/0', '/404', '/502/0', '/503']) await send(path).catch(() => undefined);
    await failsWith('BACKEND_ERROR', send('/503/2'), { status: 503, retryAfterMs: 2000 });
    await send('/429/Wed, 21 Oct 2026 07:28:00 GMT').catch(() => undefined);
    assert.deepEqual(retries, []);
    assert.deepEqual([...new Set(requests.values())], [1]);
  });

  it('keep the deadline of the request: a retry that would begin after it is not sent', async (t) => {
    const { requests } = await createStage(t);
    const url = await backendServer(t, (_request, response) => {
      requests.set('hasty', (requests.get('hasty') ?? 0) + 1);
      response.writeHead(503, { 'retry-after': '1' }).end();
    });
    const { send, answers } = backendsAt(t, url, { retryBudget: AMPLE, timeoutMs: 900 });
    await failsWith('BACKEND_ERROR', send('/'), { status: 503, retryAfterMs: 1000 });
    assert.equal(requests.get('hasty'), 1);
    assert.equal(answers.length, 1);
  });

  it('give the retry what is left of the timeout', async (t) => {
    const held: ServerResponse[] = [];
    const url = await backendServer(t, (_request, response) => void held.push(response));
    const { send, answers, retries } = backendsAt(t, url, { retryBudget: AMPLE, timeoutMs: 1500 });
    const { advance } = manualClock(t);
    const failing = failsWith('BACKEND_TIMEOUT', send('/'));
    await waitFor('the request', () => held.length === 1);
    advance(1000);
    held[0]!.writeHead(503, { 'retry-after': '0' }).end();
    await waitFor('the retry', () => held.length === 2);
    advance(490);
    await new Promise(setImmediate);
    assert.equal(answers.length, 0);
    advance(10);
    await failing;
    assert.deepEqual(retries, ['BACKEND_TIMEOUT']);
    assert.equal(answers[0]!.reason, 'no answer within 1500 ms');
  });

  it('cost at most a tenth of the requests in an outage (twin: an ample budget doubles them)', async (t) => {
    const requests = await outage(t, 0.1, 400);
    assert.ok(requests > 400 && requests <= 440, `${requests} requests for 400`);
    assert.equal(await outage(t, AMPLE, 400), 800);
    assert.equal(await outage(t, 0, 400), 400);
  });

  it('save at most ten for a failure after a time without failures', async (t) => {
    let isFailing = false;
    let requests = 0;
    const url = await backendServer(t, (_request, response) => {
      requests++;
      if (isFailing) response.writeHead(503, { 'retry-after': '0' }).end();
      else response.end('1');
    });
    const { send } = backendsAt(t, url, { retryBudget: 0.1, maxSockets: () => 50 });
    for (let i = 0; i < 500; i++) await send('/');
    isFailing = true;
    requests = 0;
    await Promise.allSettled(Array.from({ length: 5 }, () => send('/')));
    assert.equal(requests, 10);
    await Promise.allSettled(Array.from({ length: 20 }, () => send('/')));
    assert.ok(requests <= 30 + 7, `${requests} requests for 25`);
  });
});
