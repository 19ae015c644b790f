import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import type { Listener } from '../../../src/bus/feed.ts';
import type { HistoryLimits } from '../../../src/bus/history.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { ResultBytes } from '../../../src/gateway/fanout/outbox/frame.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { createStage, factsOf } from './stage.ts';
import { publisherOf } from '../../support/partition-publisher.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int }`;
const CHANNEL = 't{item.id="1"}';
const QUERY = 'subscription { item(id: 1) { n } }';

interface Received {
  readonly data: { readonly item: { readonly n: number } };
  readonly extensions?: { readonly cursor?: string; readonly gap?: true };
}

async function createChannel(t: TestContext) {
  const cursors = new Cursors('secret');
  const stage = await createStage(t, { sdl: SDL, cursors });
  const { bus } = stage;
  const bypass: { deliver: Listener } = { deliver: () => assert.fail('not subscribed') };
  const subscribe = bus.subscribe.bind(bus);
  bus.subscribe = (channel, listener, onGap) => {
    bypass.deliver = listener;
    return subscribe(channel, listener, onGap);
  };
  /** Delivers what another program publishes in Redis. */
  const publishOutside = (text: string) => bypass.deliver(Buffer.from(text));
  /** Delivers what a program publishes that forges the header of an event. */
  const forge = (text: string, epoch: number) =>
    bypass.deliver(Buffer.from(text), { partition: 0, offset: epoch, timestamp: 0, epoch });
  const acquire = (startId?: string) => stage.bus.acquire({ topic: 't', partition: 0, position: -1, startId });
  await acquire();
  const publish = (offset: number, history?: HistoryLimits) =>
    stage.bus.publish(
      [{ channel: CHANNEL, payload: `{"item":{"id":1,"n":${offset}}}`, offset, timestamp: 0, history }],
      {
        topic: 't',
        partition: 0,
        offset,
      },
    );
  const join = async (id: string) => {
    const listener = await stage.join(QUERY, factsOf(id, {}));
    return () => listener.received.map((text) => JSON.parse(text) as Received);
  };
  return { stage, acquire, publish, publishOutside, forge, join, cursors };
}

describe('LiveChannel', () => {
  it('gives every event one cursor, equal for all clients', async (t) => {
    const { publish, join, cursors } = await createChannel(t);
    const [one, two] = [await join('a'), await join('b')];
    await publish(7, HISTORY_DEFAULTS);
    await publish(8, HISTORY_DEFAULTS);
    await waitFor('both events', () => one().length === 2 && two().length === 2);
    assert.deepEqual(one(), two());
    const positions = one().map(({ extensions }) => cursors.read(CHANNEL, extensions?.cursor));
    assert.deepEqual(
      positions.map((position) => position?.offset),
      [7, 8],
    );
  });

  it('signs the cursor of an event once, whatever the groups that receive it', async (t) => {
    const { stage, publish, join, cursors } = await createChannel(t);
    const sign = t.mock.method(cursors, 'sign');
    const one = await join('a');
    const other = await stage.join('subscription { item(id: 1) { id } }', factsOf('a', {}));
    await publish(7, HISTORY_DEFAULTS);
    await waitFor('the event', () => one().length === 1 && other.received.length === 1);
    assert.equal(sign.mock.callCount(), 1);
  });

  it('ends the results of all groups with the same bytes', async (t) => {
    const { stage, publish } = await createChannel(t);
    const suffixes: unknown[] = [];
    for (const field of ['n', 'id']) {
      const { subscription } = await stage.join(`subscription { item(id: 1) { ${field} } }`, factsOf('a', {}));
      t.mock.method(subscription, 'deliver', ({ pieces }: ResultBytes) => void suffixes.push(pieces.at(-1)));
    }
    await publish(7, HISTORY_DEFAULTS);
    await waitFor('the event', () => suffixes.length === 2);
    assert.ok(suffixes[0] instanceof Buffer && suffixes[0] === suffixes[1]);
  });

  it('signs no cursor for an event that is stale or that a filter excludes', async (t) => {
    const cursors = new Cursors('secret');
    const sign = t.mock.method(cursors, 'sign');
    const sdl = `
      type Item { n: Int }
      type Subscription { item(min: Int): Item @kafka(topic: "t", where: { arg: "min", path: "n", op: GTE }) }`;
    const stage = await createStage(t, { sdl, cursors });
    const subscribe = stage.bus.subscribe.bind(stage.bus);
    stage.bus.subscribe = (channel, listener, onGap) => {
      const deliverTwice: Listener = (...message) => {
        listener(...message);
        listener(...message);
      };
      return subscribe(channel, deliverTwice, onGap);
    };
    const { received } = await stage.join('subscription { item(min: 2) { n } }', factsOf('a', {}));
    const messages = [1, 2, 1].map((n) => ({ channel: 't{}', payload: `{"n":${n}}`, history: HISTORY_DEFAULTS }));
    await publisherOf(stage.bus, 't', 0).publish(messages);
    await waitFor('the event', () => received.length === 1);
    assert.deepEqual([stage.workerEvents, stage.stale, sign.mock.callCount()], [3, 3, 1]);
  });

  // A tombstone has four bytes.
  for (const payload of ['{"item":{"id":1,"n":', 'nope'])
    it(`sends an error for a message with coordinates that is not JSON, of ${payload.length} bytes, and continues with the next message`, async (t) => {
      const { stage, publish, publishOutside, join } = await createChannel(t);
      const received = await join('a');
      const broken = { channel: CHANNEL, payload, offset: 1, timestamp: 0 };
      await stage.bus.publish([broken], { topic: 't', partition: 0, offset: 1 });
      publishOutside(broken.payload);
      await publish(2);
      await waitFor('both events', () => received().length === 2);
      const [failed, good] = received() as (Received & { errors?: { message: string }[] })[];
      assert.equal(failed?.errors?.length, 1);
      assert.ok(!JSON.stringify(failed).includes('item'), 'the error contains none of the payload');
      assert.equal(good?.data.item.n, 2);
      assert.equal(stage.unrecognised, 2);
    });

  it('gives all events outside of the history one cursor, which names none of them', async (t) => {
    const { publish, join, cursors } = await createChannel(t);
    const received = await join('a');
    await publish(7);
    await publish(8);
    await waitFor('both events', () => received().length === 2);
    const [first, second] = received().map(({ extensions }) => extensions?.cursor);
    assert.equal(first, second);
    assert.equal(cursors.read(CHANNEL, first)?.entry, '');
  });

  it('sends `gap: true` to every client once, with the first event of a new epoch', async (t) => {
    const { stage, acquire, publish, join } = await createChannel(t);
    const [one, two] = [await join('a'), await join('b')];
    await publish(7);
    await acquire('another');
    await publish(0);
    await publish(1);
    await waitFor('all events', () => one().length === 3 && two().length === 3);
    for (const received of [one(), two()]) {
      assert.deepEqual(
        received.map(({ data, extensions }) => [data.item.n, extensions?.gap]),
        [
          [7, undefined],
          [0, true],
          [1, undefined],
        ],
      );
    }
    assert.equal(stage.gapOperations, 2);
  });

  it('delivers events again from the third on, with a gap, after a message with a forged epoch', async (t) => {
    const { stage, publish, forge, join } = await createChannel(t);
    const received = await join('a');
    await publish(7);
    forge('{"item":{"id":1,"n":0}}', 9_007_199_254_740_000);
    for (let offset = 8; offset < 12; offset++) await publish(offset);
    await waitFor('the last event', () => received().at(-1)?.data.item.n === 11);
    assert.deepEqual(
      received().map(({ data, extensions }) => [data.item.n, extensions?.gap]),
      [
        [7, undefined],
        [0, true],
        [10, true],
        [11, undefined],
      ],
    );
    assert.equal(stage.stale, 2);
  });

  it('counts the bytes of an event once, however many documents it is executed for', async (t) => {
    const { stage } = await createChannel(t);
    const listeners = await Promise.all(
      ['a', 'b', 'c', 'd'].map((alias) =>
        stage.join(`subscription { item(id: 1) { ${alias}: n } }`, factsOf(alias, {})),
      ),
    );
    const received = () => listeners.reduce((sum, { received: own }) => sum + own.length, 0);
    const payload = `{"item":{"id":1,"n":1,"text":"${'x'.repeat(3 * 1024 * 1024)}"}}`;
    const publish = (count: number) =>
      publisherOf(stage.bus, 't', 1).publish(Array.from({ length: count }, () => ({ channel: CHANNEL, payload })));
    await publish(2);
    assert.equal(received(), 0, 'below 8 MiB events wait for the next turn');
    await waitFor('all events', () => received() === 2 * listeners.length);
    await publish(3);
    assert.equal(received(), 5 * listeners.length);
  });

  it('discards an event that it has delivered (twin: without coordinates it delivers it again)', async (t) => {
    const { stage, publish, publishOutside, join } = await createChannel(t);
    const received = await join('a');
    await publish(3);
    await publish(3);
    await publish(4);
    publishOutside('{"item":{"id":1,"n":3}}');
    await waitFor('the event without coordinates', () => received().length === 3);
    assert.deepEqual(
      received().map(({ data }) => data.item.n),
      [3, 4, 3],
    );
    assert.deepEqual([stage.events, stage.workerEvents], [3, 2]);
  });
});
