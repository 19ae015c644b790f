import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';
import { openStream } from './stream-client.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
const TOKEN = 'x-graphql-event-stream-token';

/** A crier, and requests about one reserved stream. */
async function startReserved(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const crier = await startStreams(t, settings);
  const { url } = crier;
  const reserve = async () => {
    const response = await fetch(url, { method: 'PUT' });
    assert.equal(response.status, 201);
    return response.text();
  };
  const token = await reserve();
  const open = (of = token) => openStream(t, url, { method: 'GET', headers: { [TOKEN]: of } });
  const send = async (query: string, operationId?: unknown, variables?: object) => {
    const body = JSON.stringify({ query, variables, extensions: { operationId } });
    const headers = { 'content-type': 'application/json', [TOKEN]: token };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  const stop = async (operationId: string) =>
    (await fetch(`${url}?operationId=${operationId}`, { method: 'DELETE', headers: { [TOKEN]: token } })).status;
  return { ...crier, token, reserve, open, send, stop };
}

describe('a reserved stream', () => {
  it('carries the results of many operations, by their ids, until each is over or stopped', async (t) => {
    const probe = createProbe(t);
    const { open, send, stop } = await startReserved(t);
    const stream = await open();
    assert.equal(stream.status, 200);
    assert.equal(await send('subscription { ticks(count: 1) }', 'a'), 202);
    assert.deepEqual(
      (await stream.take(2)).map(({ event, data }) => [event, data]),
      [
        ['next', { id: 'a', payload: { data: { ticks: 1 } } }],
        ['complete', { id: 'a' }],
      ],
    );
    assert.equal(await send(LIVE, '"b"', { token: probe.token }), 202);
    assert.equal(await send('{ hello }', 'c'), 202);
    await waitFor('the source', () => probe.starts === 1);
    assert.equal((await stream.take(2))[0]!.event, 'next');
    probe.push(7);
    const [event] = await stream.take(1);
    assert.deepEqual(event, {
      event: 'next',
      data: { id: '"b"', payload: { data: { live: { value: 7 } } } },
      id: undefined,
    });
    assert.equal(await stop('%22b%22'), 200);
    await waitFor('the release', () => probe.returns === 1);
    assert.ok(!stream.isEnded);
    assert.equal(await stop('%22b%22'), 200);
  });

  it('carries the errors of an operation that is refused', async (t) => {
    const { open, send } = await startReserved(t);
    const stream = await open();
    assert.equal(await send('{ nothing }', 'a'), 202);
    const [next, complete] = await stream.take(2);
    assert.match(JSON.stringify(next), /"id":"a".*GRAPHQL_VALIDATION_FAILED/);
    assert.deepEqual(complete!.data, { id: 'a' });
  });

  it('answers with the mistake when a request names no stream, no operation, or a used id', async (t) => {
    const probe = createProbe(t);
    const { url, open, send, reserve, token } = await startReserved(t, { MAX_OPERATION_ID_BYTES: '20' });
    assert.equal(await send('{ hello }', 'a'), 409);
    await open();
    const again = await open();
    assert.equal(again.status, 409);
    await again.ended();
    assert.match(again.text, /open already/);
    assert.equal(await send('{ hello }'), 400);
    assert.equal(await send('{ hello }', 7), 400);
    assert.equal(await send('{ hello }', 'x'.repeat(21)), 400);
    assert.equal(await send(LIVE, 'a', { token: probe.token }), 202);
    assert.equal(await send(LIVE, 'a', { token: probe.token }), 409);
    assert.equal((await open(`${token}x`)).status, 404);
    const other = await reserve();
    assert.equal((await openStream(t, `${url}?token=${other}`, { method: 'GET' })).status, 200);
  });

  it('ends with its reservation when its client leaves', async (t) => {
    const probe = createProbe(t);
    const { open, send } = await startReserved(t);
    const stream = await open();
    assert.equal(await send(LIVE, 'a', { token: probe.token }), 202);
    await waitFor('the source', () => probe.starts === 1);
    stream.leave();
    await waitFor('the release', () => probe.returns === 1);
    await waitFor('the end', async () => (await send('{ hello }', 'b')) === 404);
  });

  it('is not reserved while the pod has as many connections as it may have', async (t) => {
    const { url, open } = await startReserved(t, { MAX_CONNECTIONS: '1' });
    await open();
    const refused = await fetch(url, { method: 'PUT' });
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /MAX_CONNECTIONS\b/);
  });

  it('is forgotten when it is not opened within INIT_TIMEOUT_MS', async (t) => {
    const { open } = await startReserved(t, { INIT_TIMEOUT_MS: '30' });
    await waitFor('the deadline', async () => {
      const { status, leave } = await open().then((stream) => ({ status: stream.status, leave: () => stream.leave() }));
      leave();
      return status === 404;
    });
  });

  it('refuses more requests for it than MAX_MESSAGES_PER_SECOND with 429', async (t) => {
    const { open, send } = await startReserved(t, { MAX_MESSAGES_PER_SECOND: '1', MAX_MESSAGE_BURST: '2' });
    await open();
    const statuses = [await send('{ hello }', 'a'), await send('{ hello }', 'b'), await send('{ hello }', 'c')];
    assert.deepEqual(statuses, [202, 202, 429]);
  });

  it('ends live operations whatever the rate is: a DELETE frees what its operation has paid for', async (t) => {
    const probe = createProbe(t);
    const { open, send, stop } = await startReserved(t, { MAX_MESSAGES_PER_SECOND: '1', MAX_MESSAGE_BURST: '2' });
    await open();
    for (const id of ['a', 'b']) assert.equal(await send(LIVE, id, { token: probe.token }), 202);
    await waitFor('the sources', () => probe.starts === 2);
    assert.deepEqual([await stop('a'), await stop('b')], [200, 200]);
    await waitFor('the end of the sources', () => probe.returns === 2);
    assert.equal(await stop('b'), 429);
  });
});
