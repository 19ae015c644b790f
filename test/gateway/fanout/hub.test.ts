import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { sharingKey } from '../../../src/graph/documents/sharing-key.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Subscription { item(id: ID): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int slow: Int whose: ID }`;
const CHANNEL = 't{item.id="1"}';
const item = (n: number) => ({ item: { id: '1', n } });

interface Parent {
  readonly n: number;
}

describe('Hub', () => {
  it('yields to the event loop while it executes events for 300 clients, and keeps the order for each', async (t) => {
    const stage = await createStage(t, {
      sdl: SDL,
      resolvers: {
        Item: {
          whose: (_: unknown, __: unknown, { connection }: { connection: { id: string } }) => {
            const end = performance.now() + 0.2;
            while (performance.now() < end);
            return connection.id;
          },
        },
      },
    });
    const listeners = [];
    for (let i = 0; i < 300; i++) {
      listeners.push(await stage.join('subscription { item(id: 1) { n whose } }', factsOf(`c${i}`, {})));
    }
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    t.after(() => clearInterval(timer));
    await stage.publish(CHANNEL, item(1), item(2), item(3));
    assert.ok(turns >= 10, `${turns} timers in 180 ms of executions`);
    listeners.forEach(({ received }, i) =>
      assert.deepEqual(
        received,
        [1, 2, 3].map((n) => JSON.stringify({ data: { item: { n, whose: `c${i}` } } })),
      ),
    );
  });

  it('delivers each event once to a client that moves to another group while events of both wait', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const [moving, staying] = [
      await stage.join('subscription { item(id: 1) { id n } }', factsOf('moving', {})),
      await stage.join('subscription { item(id: 1) { n } }', factsOf('staying', {})),
    ];
    const { operation } = staying.subscription;
    let arrived = 0;
    // After the hub has received the first event, and before the second one.
    await stage.bus.subscribe(CHANNEL, () => {
      if (++arrived > 1) return;
      moving.subscription.operation = operation;
      stage.hub().move(CHANNEL, sharingKey(operation, {}, undefined), moving.subscription);
    });
    await stage.publish(CHANNEL, item(1), item(2));
    await stage.publish(CHANNEL, item(3));
    const expected = [1, 2, 3].map((n) => JSON.stringify({ data: { item: { n } } }));
    // The group that it leaves has served the first one.
    const former = JSON.stringify({ data: { item: { id: '1', n: 1 } } });
    assert.deepEqual([moving.received, staying.received], [[former, ...expected.slice(1)], expected]);
  });

  it('sends results in the order of events, whichever execution ends first, shared or not', async (t) => {
    const stage = await createStage(t, {
      sdl: SDL,
      resolvers: {
        Item: {
          slow: async ({ n }: Parent) => {
            await new Promise((resolve) => setTimeout(resolve, n % 3 === 0 ? 15 : 0));
            return n;
          },
          whose: ({ n }: Parent, _: unknown, { connection }: { connection: { id: string } }) =>
            n % 2 === 0 ? connection.id : null,
        },
      },
    });
    const listeners = [];
    for (let i = 0; i < 5; i++) {
      listeners.push(await stage.join('subscription { item(id: 1) { slow whose } }', factsOf(`c${i}`, {})));
    }
    await stage.publish(CHANNEL, ...Array.from({ length: 12 }, (_, n) => item(n)));
    for (const { received, alone } of listeners) assert.deepEqual(received, alone);
  });

  it('sends nothing after a client has left, and continues for the others', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const query = 'subscription { item(id: 1) { n } }';
    const [leaving, staying] = [await stage.join(query, factsOf('a', {})), await stage.join(query, factsOf('b', {}))];
    await stage.publish(CHANNEL, item(1));
    leaving.leave();
    leaving.leave();
    await stage.publish(CHANNEL, item(2));
    assert.equal(leaving.received.length, 1);
    assert.equal(staying.received.length, 2);
    staying.leave();
    const back = await stage.join(query, factsOf('a', {}));
    await stage.publish(CHANNEL, item(3));
    assert.deepEqual(back.received, ['{"data":{"item":{"n":3}}}']);
    staying.leave();
    await stage.publish(CHANNEL, item(4));
    assert.equal(back.received.length, 2);
    back.leave();
    assert.equal(stage.channelCount(), 0);
  });

  it('keeps nothing of a subscription whose channel or first event the bus refuses, and subscribes again for the next one', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const { bus } = stage;
    const subscribe = bus.subscribe.bind(bus);
    bus.subscribe = () => Promise.reject(new BusUnavailableError('away'));
    const query = 'subscription { item(id: 1) { n } }';
    for (const start of [undefined, { cursor: 'x', replaysLast: true }]) {
      await assert.rejects(stage.join(query, factsOf('a', {}), undefined, start), BusUnavailableError);
      assert.equal(stage.channelCount(), 0);
    }
    bus.subscribe = subscribe;
    const history = bus.history.bind(bus);
    bus.history = () => Promise.reject(new BusUnavailableError('away'));
    // The hub's timers do not keep the process alive.
    const alive = setInterval(() => undefined, 1000);
    t.after(() => clearInterval(alive));
    const start = { cursor: undefined, replaysLast: true };
    await assert.rejects(stage.join(query, factsOf('a', {}), undefined, start), BusUnavailableError);
    assert.equal(stage.channelCount(), 0);
    bus.history = history;
    const { received } = await stage.join(query, factsOf('a', {}));
    await stage.publish(CHANNEL, item(1));
    assert.equal(received.length, 1);
  });
});
