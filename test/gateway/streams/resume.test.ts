import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { startRedisGateway } from '../websocket/redis-gateway.ts';
import { openStream } from './stream-client.ts';
import type { StreamEvent } from './stream-client.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }], history: {})
    }
    type Thing { id: ID seq: Int }
  `,
};
const QUERY = 'subscription { thing(id: 1) { seq } }';
const CHANNEL = 'things{id="1"}';

interface Result {
  readonly data: { readonly thing: { readonly seq: number } };
  readonly extensions?: { readonly cursor?: string; readonly resumed?: boolean };
}

const resultOf = ({ data }: StreamEvent) => data as Result;

async function start(t: TestContext) {
  const gateway = await startRedisGateway(t, { graph: GRAPH });
  let seq = 0;
  const publish = async (count: number) => {
    for (let i = 0; i < count; i++) await gateway.worker.publish(CHANNEL, { id: 1, seq: ++seq }, HISTORY_DEFAULTS);
  };
  return { ...gateway, publish };
}

describe('a stream that resumes', () => {
  it('has the cursor of each event as its id, and continues after Last-Event-ID', async (t) => {
    const { endpoint, publish, hasChannel } = await start(t);
    const stream = await openStream(t, endpoint, { body: { query: QUERY } });
    await hasChannel(CHANNEL);
    await publish(2);
    const events = await stream.take(2);
    for (const event of events) assert.equal(event.id, resultOf(event).extensions!.cursor);
    stream.leave();
    await hasChannel(CHANNEL, false);
    await publish(2);
    const get = `${endpoint}?query=${encodeURIComponent(QUERY)}`;
    const headers = { 'sec-fetch-site': 'same-origin', 'last-event-id': events[1]!.id! };
    const again = await openStream(t, get, { method: 'GET', headers });
    const missed = (await again.take(2)).map(resultOf);
    assert.deepEqual(
      missed.map(({ data, extensions }) => [data.thing.seq, extensions!.resumed]),
      [
        [3, true],
        [4, undefined],
      ],
    );
    assert.equal(again.events[0]!.id, missed[0]!.extensions!.cursor);
  });

  it('continues after extensions.resume.cursor, and shares executions and bytes with WebSockets', async (t) => {
    const { endpoint, publish, hasChannel, connect, metric } = await start(t);
    const stream = await openStream(t, endpoint, { body: { query: QUERY } });
    const socket = await connect();
    socket.subscribe('1', QUERY);
    await hasChannel(CHANNEL);
    await socket.roundTrip();
    await publish(1);
    const [event] = await stream.take(1);
    const [message] = await socket.take(1);
    assert.deepEqual(event!.data, message!.payload);
    const { cursor } = resultOf(event!).extensions!;
    const resumed = await openStream(t, endpoint, { body: { query: QUERY, extensions: { resume: { cursor } } } });
    await publish(1);
    const [next] = (await resumed.take(1)).map(resultOf);
    assert.deepEqual([next!.data.thing.seq, next!.extensions!.resumed], [2, true]);
    assert.equal(await metric('crier_resumes_total{outcome="resumed"}'), 1);
  });
});
