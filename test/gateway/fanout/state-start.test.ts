import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TOMBSTONE } from '../../../src/bus/bus-message.ts';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Subscription { item: Item @kafka(topic: "t", payload: "item", state: {}) }
  type Item { n: Int }`;
const CHANNEL = 't{}';
const START = { cursor: undefined, replaysLast: true, hasState: true };
const LAST = { from: undefined, maxEntries: 1, maxBytes: Infinity };
const FOREVER = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };

describe('a subscription that begins with a state', () => {
  it('is told stateComplete: false with its first event, where the state is of another epoch than complete states', async (t) => {
    const complete = new Set<number>();
    const stage = await createStage(t, { sdl: SDL, isStateComplete: (_channel, epoch) => complete.has(epoch) });
    const { bus } = stage;
    const begin = async (startId: string) => {
      await bus.acquire({ topic: 't', partition: 0, position: -1, startId });
      const message = { channel: CHANNEL, payload: '{"item":{"n":1}}', offset: 0, timestamp: 0, history: FOREVER };
      await bus.publish([message], { topic: 't', partition: 0, offset: 0 });
    };
    const first = async () => {
      const { received } = await stage.join('subscription { item { n } }', factsOf('a', {}), undefined, START);
      await waitFor('the state', () => received.length === 1);
      const { data, extensions } = JSON.parse(received[0]!) as {
        data: unknown;
        extensions?: { stateComplete?: false };
      };
      assert.deepEqual(data, { item: { n: 1 } });
      return extensions?.stateComplete;
    };
    await begin('one');
    assert.equal(await first(), false);
    complete.add((await bus.history(CHANNEL, LAST)).epoch);
    assert.equal(await first(), undefined);
    await begin('two');
    assert.equal(await first(), false);
  });

  it('is told which event it may have seen before: the one it begins with, and no later one', async (t) => {
    const stage = await createStage(t, { sdl: SDL });
    const { bus } = stage;
    await bus.acquire({ topic: 't', partition: 0, position: -1, startId: 'one' });
    const publish = (n: number) => {
      const message = { channel: CHANNEL, payload: `{"item":{"n":${n}}}`, offset: n, timestamp: 0, history: FOREVER };
      return bus.publish([message], { topic: 't', partition: 0, offset: n });
    };
    const document = 'subscription { item { n } }';
    const empty = await stage.join(document, factsOf('a', {}), undefined, START);
    await publish(1);
    const late = await stage.join(document, factsOf('b', {}), undefined, START);
    await waitFor('the state', () => late.received.length === 1);
    await publish(2);
    await waitFor('the next event', () => late.received.length === 2 && empty.received.length === 2);
    const marks = (received: readonly string[]) =>
      received.map((text) => {
        const { data, extensions } = JSON.parse(text) as { data: { item: object }; extensions?: { initial?: true } };
        return [data.item, extensions?.initial];
      });
    assert.deepEqual(marks(late.received), [
      [{ n: 1 }, true],
      [{ n: 2 }, undefined],
    ]);
    assert.deepEqual(marks(empty.received), [
      [{ n: 1 }, undefined],
      [{ n: 2 }, undefined],
    ]);
  });

  it('marks nothing for a tombstone that its field skips, nor the event after it', async (t) => {
    const sdl = SDL.replace('state: {}', 'history: {}, replay: LAST');
    const stage = await createStage(t, { sdl });
    const { bus } = stage;
    await bus.acquire({ topic: 't', partition: 0, position: -1, startId: 'one' });
    const publish = (payload: string, offset: number) =>
      bus.publish([{ channel: CHANNEL, payload, offset, timestamp: 0, history: HISTORY_DEFAULTS }], {
        ...{ topic: 't', partition: 0, offset },
      });
    await publish('{"item":{"n":1}}', 1);
    await publish(TOMBSTONE, 2);
    const { received } = await stage.join('subscription { item { n } }', factsOf('a', {}), undefined, START);
    await publish('{"item":{"n":3}}', 3);
    await waitFor('the event', () => received.length === 1);
    assert.equal(received[0], '{"data":{"item":{"n":3}}}');
  });
});
