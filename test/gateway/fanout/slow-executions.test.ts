import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Listener as BusListener } from '../../../src/bus/feed.ts';
import { switches } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';
import type { Listener } from './stage.ts';

const SDL = `
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int slow: Int }`;
const QUERY = 'subscription { item { n slow } }';
/** More than MAX_PENDING_EVENTS, which is 100 here. */
const EVENTS = 300;

/** Publishes the events at once to clients with these names. Their field `slow` has no value until `answer()` is called. */
async function flood(
  t: TestContext,
  maxExecuting: number,
  names: readonly string[] = ['a', 'b'],
  hasSharing = switches.SHARING,
) {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let executions = 0;
  const slow = async ({ n }: { n: number }) => {
    executions++;
    await answered;
    return n;
  };
  const { bus, join } = await createStage(t, { sdl: SDL, resolvers: { Item: { slow } }, maxExecuting, hasSharing });
  const subscribe = bus.subscribe.bind(bus);
  let isReused = false;
  bus.subscribe = (channel, listener, onGap) => {
    const hear: BusListener = (payload, coordinates) => {
      const memory = Buffer.from(payload);
      listener(memory, coordinates);
      if (isReused) memory.fill(0);
    };
    return subscribe(channel, hear, onGap);
  };
  const joinAll = (all: readonly string[]) => Promise.all(all.map((name) => join(QUERY, factsOf(name, {}))));
  const clients = await joinAll(names);
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  const publish = async (from: number, to: number) => {
    for (let n = from; n < to; n++) {
      const message = { channel: 't{}', payload: JSON.stringify({ item: { n } }), offset: n, timestamp: 0 };
      await bus.publish([message], { topic: 't', partition: 0, offset: n });
    }
  };
  await publish(0, EVENTS);
  await waitFor('executions', () => executions > 0);
  /** From now on, overwrites the memory of each message as soon as its listener returns. */
  const reuseMemory = () => void (isReused = true);
  return { clients, answer, executions: () => executions, joinAll, publish, reuseMemory };
}

describe('events whose executions are slow', () => {
  it('wait for their turn: no client becomes a slow consumer, and each receives all events in order', async (t) => {
    const { clients, answer, executions } = await flood(t, 40);
    answer();
    const goal = Array.from({ length: EVENTS }, (_, n) => n);
    await waitFor('all results', () => clients.every(({ received }) => received.length === EVENTS));
    for (const { received, socket } of clients) {
      const numbers = received.map((text) => (JSON.parse(text) as { data: { item: { slow: number } } }).data.item.slow);
      assert.deepEqual([numbers, socket.isRefused], [goal, false]);
    }
    if (switches.SHARING) assert.equal(executions(), EVENTS, 'each event is executed once for both clients');
    else assert.equal(executions(), 2 * EVENTS, 'each event is executed for each client');
  });

  it('are executed once for all clients that join while they wait', async (t) => {
    const { clients, answer, executions, joinAll } = await flood(t, 40, ['a'], true);
    clients.push(...(await joinAll(['b', 'c', 'd'])));
    answer();
    const last = EVENTS - 1;
    const hasLast = ({ received }: Listener) => received.at(-1)?.includes(`"n":${last},`);
    await waitFor('all results', () => clients.every(hasLast));
    assert.equal(executions(), EVENTS);
  });

  it('keep no buffer of the bus for the events held after them', async (t) => {
    const { clients, answer, publish, reuseMemory } = await flood(t, 40);
    reuseMemory();
    await publish(EVENTS, EVENTS + 3);
    await nextTurn();
    answer();
    await waitFor('all results', () => clients.every(({ received }) => received.length === EVENTS + 3));
    const last = EVENTS + 2;
    for (const { received } of clients) {
      assert.deepEqual(JSON.parse(received.at(-1)!), { data: { item: { n: last, slow: last } } });
    }
  });

  it('do not make a slow consumer of the last client of a group when the others leave meanwhile', async (t) => {
    const names = Array.from({ length: 20 }, (_, n) => `c${n}`);
    const { clients, answer, executions } = await flood(t, 40, names, true);
    const [stays, ...others] = clients as [Listener, ...Listener[]];
    for (const { leave } of others) leave();
    answer();
    await waitFor('all results', () => stays.received.length === EVENTS || stays.socket.isRefused);
    assert.deepEqual([stays.socket.isRefused, executions()], [false, EVENTS]);
  });

  it('make every client a slow consumer if the limit of concurrent executions exceeds MAX_PENDING_EVENTS (twin)', async (t) => {
    const { clients, answer } = await flood(t, 1000);
    await waitFor('refusals', () => clients.every(({ socket }) => socket.isRefused));
    answer();
  });
});
