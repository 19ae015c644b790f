import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
});
