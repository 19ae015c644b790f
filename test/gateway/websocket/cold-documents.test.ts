import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { metricOf } from '../../support/metric.ts';
import { openSocket, subscribeMessage } from '../../support/socket.ts';
import type { ProtocolMessage, Socket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CONFORMANCE_GRAPH } from './reference.ts';

/** A document that takes some ms to validate. */
const heavy = (name: string) => `query ${name} { ${'hello '.repeat(400)} }`;
const light = (name: string) => `query ${name} { hello }`;

async function start(t: TestContext) {
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: CONFORMANCE_GRAPH,
    MAX_MESSAGE_BURST: '10000',
  });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const admin = `http://127.0.0.1:${server.adminPort}`;
  const connect = async () => {
    const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`);
    await socket.init();
    return socket;
  };
  const endpoint = `http://127.0.0.1:${server.port}/graphql`;
  return { connect, endpoint, waiting: () => metricOf(admin, 'crier_documents_waiting'), admin };
}

/** Fills the queue with documents of ten other connections, so that later documents wait. */
async function fillQueue(connect: () => Promise<Socket>): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: 10 }, connect));
  sockets.forEach((socket, index) =>
    socket.sendTogether(...Array.from({ length: 10 }, (_, i) => subscribeMessage(`${i}`, heavy(`C${index}x${i}`)))),
  );
}

const firstAnswers = (messages: readonly ProtocolMessage[]) =>
  messages.filter(({ type }) => type === 'next').map(({ id }) => id);

describe('documents that are not cached', () => {
  it('are prepared in turn with those of other connections', async (t) => {
    const { connect } = await start(t);
    const greedy = await connect();
    const modest = await connect();
    greedy.sendTogether(...Array.from({ length: 60 }, (_, i) => subscribeMessage(`${i}`, heavy(`G${i}`))));
    await greedy.next();
    modest.subscribe('a', light('M'));
    assert.equal((await modest.next()).type, 'next');
    assert.ok(greedy.unread.length < 100, `${greedy.unread.length} of 120 messages of the other came before`);
  });

  it('are answered in the order of their messages, also before cached ones that arrived later', async (t) => {
    const { connect } = await start(t);
    const socket = await connect();
    socket.subscribe('warm', light('Warm'));
    await socket.take(2);
    const queries = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? heavy(`Q${i}`) : light('Warm')));
    socket.sendTogether(...queries.map((query, i) => subscribeMessage(`${i}`, query)));
    assert.deepEqual(
      firstAnswers(await socket.take(20)),
      queries.map((_, i) => `${i}`),
    );
  });

  it('are not prepared for an operation that was completed while it waited', async (t) => {
    const { connect, admin, waiting } = await start(t);
    const socket = await connect();
    await fillQueue(connect);
    const complete = { id: 'z', type: 'complete' };
    socket.sendTogether(subscribeMessage('z', heavy('First')), complete, subscribeMessage('z', light('Second')));
    const [next] = await socket.take(2);
    assert.equal(JSON.stringify(next), '{"id":"z","type":"next","payload":{"data":{"hello":"world"}}}');
    assert.deepEqual(await socket.roundTrip(), []);
    await waitFor('the queue to be empty', async () => (await waiting()) === 0);
    assert.equal(await metricOf(admin, 'crier_documents_total{outcome="miss"}'), 101);
  });

  it('keep their operation ids in use while they wait', async (t) => {
    const { connect } = await start(t);
    const socket = await connect();
    await fillQueue(connect);
    socket.sendTogether(subscribeMessage('z', heavy('First')), subscribeMessage('z', light('Second')));
    assert.equal((await socket.expectClose()).code, 4409);
  });

  it('are not prepared for a connection that has closed', async (t) => {
    const { connect, admin, waiting } = await start(t);
    const socket = await connect();
    await fillQueue(connect);
    socket.sendTogether(...Array.from({ length: 100 }, (_, i) => subscribeMessage(`${i}`, heavy(`Q${i}`))));
    await waitFor('a waiting document', async () => (await waiting()) > 0);
    socket.terminate();
    await waitFor('the queue to be empty', async () => (await waiting()) === 0);
    assert.ok((await metricOf(admin, 'crier_documents_total{outcome="miss"}')) < 200);
  });

  it('are answered with OVERLOADED if a connection sends too many, while its cached ones are served', async (t) => {
    const { connect } = await start(t);
    const socket = await connect();
    socket.subscribe('warm', light('Warm'));
    await socket.take(2);
    let refusal: ProtocolMessage | undefined;
    for (let batch = 0; !refusal; batch++) {
      assert.ok(batch < 100, 'no refusal');
      const queries = Array.from({ length: 50 }, (_, i) => subscribeMessage(`${i}`, heavy(`Q${batch}x${i}`)));
      // Used first in each batch, so that the cache does not evict it.
      queries.unshift(subscribeMessage('warm', light('Warm')));
      socket.sendTogether(...queries);
      for (let over = 0; over < queries.length;) {
        const message = await socket.next();
        if (message.type === 'error') refusal = message;
        if (message.type !== 'next') over++;
      }
    }
    const [error] = refusal.payload as { extensions: { code: string; retryAfterMs: number } }[];
    assert.equal(error!.extensions.code, 'OVERLOADED');
    assert.ok(error!.extensions.retryAfterMs >= 1000);
    socket.subscribe('cached', light('Warm'));
    assert.deepEqual(firstAnswers(await socket.take(2)), ['cached']);
    const other = await connect();
    other.subscribe('cold', light('Cold'));
    assert.deepEqual(firstAnswers(await other.take(2)), ['cold']);
  });

  it('are prepared in turn for HTTP requests, too', async (t) => {
    const { connect, endpoint } = await start(t);
    const greedy = await connect();
    greedy.sendTogether(...Array.from({ length: 60 }, (_, i) => subscribeMessage(`${i}`, heavy(`G${i}`))));
    await greedy.next();
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: light('Http') }),
    });
    assert.deepEqual(await response.json(), { data: { hello: 'world' } });
    assert.ok(greedy.unread.length < 118, `${greedy.unread.length} of 120 messages of the other came before`);
  });
});
