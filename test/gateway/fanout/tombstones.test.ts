import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { waitFor } from '../../support/wait-for.ts';
import { COMPLETE, createStage, factsOf } from './stage.ts';
import type { StageOptions } from './stage.ts';

const MATCH = 'match: [{ arg: "id", path: "order.id" }], payload: "order"';
const SDL = `
  type Subscription {
    nulled(id: ID!): Order @kafka(topic: "t", ${MATCH}, tombstone: NULL)
    completed(id: ID!): Order @kafka(topic: "t", ${MATCH}, tombstone: COMPLETE)
    skipped(id: ID!): Order! @kafka(topic: "t", ${MATCH})
    resolved(id: ID!): Order @kafka(topic: "t", ${MATCH}, tombstone: NULL)
  }
  type Order { id: ID name: String slow: String whose: String }`;
const FIELDS = ['nulled', 'completed', 'skipped', 'resolved'] as const;

interface Source {
  readonly connection: { readonly id: string };
}

async function createOrders(t: TestContext, options: Partial<StageOptions> = {}) {
  const pending: (() => void)[] = [];
  const resolvers = {
    Subscription: { resolved: (order: { name: string }) => ({ ...order, name: order.name.toUpperCase() }) },
    Order: {
      slow: () => new Promise((resolve) => pending.push(() => resolve('done'))),
      whose: (_: unknown, __: unknown, { connection }: Source) => connection.id,
    },
  };
  const stage = await createStage(t, { sdl: SDL, resolvers, ...options });
  const [channel] = stage.tombstoneRoutes('1');
  const publish = (...payloads: unknown[]) =>
    publisherOf(stage.bus, 't', 1).publish(
      payloads.map((payload) => ({ channel: channel!, payload: JSON.stringify(payload) })),
    );
  const join = (field: string, selection: string, id = field) =>
    stage.join(`subscription { ${field}(id: 1) { ${selection} } }`, factsOf(id, {}));
  return { stage, channel: channel!, publish, join, pending };
}

const order = (name: string) => ({ order: { id: '1', name } });
const nullOf = (field: string) => `{"data":{"${field}":null}}`;

describe('a tombstone', () => {
  const paths: [title: string, options: Partial<StageOptions>, selection: string][] = [
    ['from the template', { hasProjection: true, jitAfterUses: 1 }, 'id name'],
    ['with slots', { hasProjection: true, jitAfterUses: 1 }, 'id name whose'],
    ['compiled', { hasProjection: false, jitAfterUses: 1 }, 'id name whose'],
    ['by graphql-js', { hasProjection: false, jitAfterUses: 0 }, 'id name whose'],
  ];
  for (const [title, options, selection] of paths) {
    it(`acts on each field of its channel as the field's binding says, ${title}`, async (t) => {
      const { join, publish } = await createOrders(t, options);
      const [nulled, completed, skipped, resolved] = await Promise.all(FIELDS.map((field) => join(field, selection)));
      // The second use may be compiled.
      for (const name of ['a', 'b', 'c']) {
        await publish(order(name));
        await waitFor('the event', () => resolved!.received.at(-1)?.includes(`"${name.toUpperCase()}"`));
      }
      await publish(null, order('d'));
      await waitFor('the event after it', () =>
        [nulled, skipped, resolved].every((listener) => listener!.received.at(-1)!.toLowerCase().includes('"d"')),
      );
      assert.deepEqual(nulled!.received.slice(3, -1), [nullOf('nulled')]);
      assert.deepEqual(resolved!.received.slice(3, -1), [nullOf('resolved')]);
      assert.deepEqual(skipped!.received.length, 4);
      assert.deepEqual(completed!.received.slice(3), [COMPLETE]);
    });
  }

  it('is executed once for all who share it, and repeated by the audit with the same result', async (t) => {
    const { stage, join, publish } = await createOrders(t, { hasSharing: true, audit: 1 });
    const listeners = await Promise.all(['a', 'b', 'c'].map((id) => join('nulled', 'id whose', id)));
    await publish(null);
    await waitFor('all results', () => listeners.every(({ received }) => received.length === 1));
    assert.equal(stage.executions, 1);
    for (const { received } of listeners) assert.deepEqual(received, [nullOf('nulled')]);
    await waitFor('the audit', () => stage.outcomes.length === 2);
    assert.deepEqual(stage.outcomes, ['same', 'same']);
  });

  it('completes a subscription only after the results before it, and delivers nothing after it', async (t) => {
    const { join, publish, pending, stage } = await createOrders(t);
    const listener = await join('completed', 'name slow');
    await publish(order('a'), null, order('b'));
    await waitFor('the execution', () => pending.length > 0);
    assert.deepEqual(listener.received, []);
    for (const resolve of pending) resolve();
    await waitFor('the completion', () => listener.received.includes(COMPLETE));
    await waitFor('the executions', () => {
      for (const resolve of pending) resolve();
      return stage.inFlight().inFlight === 0;
    });
    assert.deepEqual(listener.received, ['{"data":{"completed":{"name":"a","slow":"done"}}}', COMPLETE]);
    assert.equal(listener.subscription.isEnded, true);
  });

  it('completes nothing before new claims are authorised', async (t) => {
    const { join, publish } = await createOrders(t);
    const listener = await join('completed', 'name');
    const other = await join('nulled', 'name');
    listener.subscription.hold(factsOf('renewed', {}));
    await publish(null);
    await waitFor('the event', () => other.received.length === 1);
    assert.deepEqual(listener.received, []);
    listener.subscription.confirm();
    assert.deepEqual(listener.received, [COMPLETE]);
  });

  it('reaches a client that resumes as null, as completion, or not at all', async (t) => {
    const cursors = new Cursors('secret');
    const { stage, channel } = await createOrders(t, { cursors });
    const { bus } = stage;
    await bus.acquire({ topic: 't', partition: 0, position: -1 });
    const history = { entries: 10, bytes: 10_000, seconds: 60 };
    const publish = async (offset: number, payload: unknown) =>
      bus.publish([{ channel, payload: JSON.stringify(payload), offset, timestamp: 0, history }], {
        topic: 't',
        partition: 0,
        offset,
      });
    const join = (field: string, start?: { cursor: unknown; replaysLast: boolean }) =>
      stage.join(`subscription { ${field}(id: 1) { name } }`, factsOf(field, {}), undefined, start);
    const first = await join('nulled');
    for (const [offset, payload] of [order('a'), null, order('b')].entries()) await publish(offset, payload);
    await waitFor('all events', () => first.received.length === 3);
    const results = first.received.map((text) => JSON.parse(text) as { data: object; extensions: { cursor: string } });
    assert.deepEqual(results[1]!.data, { nulled: null });
    const { cursor } = results[0]!.extensions;
    const dataOf = (text: string) => (text === COMPLETE ? text : (JSON.parse(text) as { data: unknown }).data);
    const expected = {
      nulled: [{ nulled: null }, { nulled: { name: 'b' } }],
      completed: [COMPLETE],
      skipped: [{ skipped: { name: 'b' } }],
    };
    for (const [field, events] of Object.entries(expected)) {
      const back = await join(field, { cursor, replaysLast: false });
      await waitFor('the missed events', () => back.received.length === events.length);
      assert.deepEqual(back.received.map(dataOf), events);
    }
    await publish(3, null);
    const late = await join('completed', { cursor: undefined, replaysLast: true });
    await waitFor('the last event', () => late.received.length > 0);
    assert.deepEqual(late.received, [COMPLETE]);
  });
});
