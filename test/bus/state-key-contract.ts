import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { MAX_STATES_OF_KEY, STATES_OF_KEY } from '../../src/bus/bus.ts';
import type { Retention } from '../../src/bus/history.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { settled, started } from './contract.ts';
import type { MakeBus } from './contract.ts';

/**
 * What every bus promises of tombstones that are routed by the states of channels.
 * @param channels of one key, more than a bus removes for it
 */
export function stateKeyContract(name: string, makeBus: MakeBus, channels = 100): void {
  describe(`${name}: tombstones by the key of a state`, () => {
    const LAST = { from: undefined, maxEntries: 10, maxBytes: 1_000_000 };

    /** A leased partition, and what the listeners of its channels `a`, `b`, … received. */
    async function indexed(t: TestContext, limits: Partial<Retention> = {}) {
      const { bus } = await started(t, makeBus);
      const topic = randomName('topic');
      const history = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0, keyIndex: `${topic}[id=?]`, ...limits };
      const nameOf = (id: string) => `${topic}{id="${id}"}`;
      const seen: string[] = [];
      const listen = (id: string) => bus.subscribe(nameOf(id), (payload) => void seen.push(`${id} ${String(payload)}`));
      for (const id of ['a', 'b']) await listen(id);
      await bus.acquire({ topic, partition: 0, position: -1 });
      let offset = 0;
      /** In one call. `id`: '*' of a tombstone for the states of its key. */
      const publish = (...messages: readonly [id: string, keyHash: string | undefined, payload: string][]) =>
        bus.publish(
          messages.map(([id, keyHash, payload]) => ({
            channel: id === STATES_OF_KEY ? id : nameOf(id),
            payload,
            offset: offset++,
            timestamp: 5,
            history,
            ...(keyHash !== undefined && { keyHash }),
          })),
          { topic, partition: 0, offset: offset - 1 },
        );
      const stateOf = async (id: string) => {
        const { entries } = await bus.history(nameOf(id), LAST);
        return entries.map(({ payload }) => String(payload))[0];
      };
      const received = async () => {
        for (const id of ['a', 'b']) await settled(bus, nameOf(id));
        // By channel: several servers have no order.
        const events = seen.splice(0).filter((line) => /^[ab] ("\d"|null)$/.test(line));
        return [...events.filter((line) => line.startsWith('a')), ...events.filter((line) => line.startsWith('b'))];
      };
      return { bus, nameOf, publish, stateOf, received };
    }

    it('reach the channels whose state is of their key, and remove the state', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['a', 'K1', '"1"'], ['b', 'K2', '"2"']);
      await publish(['*', 'K1', 'null']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], [undefined, '"2"']);
      await publish(['*', 'K1', 'null'], ['*', 'K3', 'null']);
      assert.deepEqual(await received(), ['a "1"', 'a null', 'b "2"'], 'a second tombstone of a key reaches nobody');
    });

    it('reach no channel whose state is of another key since, also within one call', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['a', 'K1', '"1"'], ['a', 'K2', '"2"'], ['*', 'K1', 'null']);
      assert.equal(await stateOf('a'), '"2"');
      await publish(['a', undefined, '"3"'], ['*', 'K2', 'null']);
      assert.equal(await stateOf('a'), '"3"');
      await publish(['a', 'K1', '"4"'], ['*', 'K1', 'null'], ['a', 'K1', '"5"']);
      assert.equal(await stateOf('a'), '"5"');
      assert.deepEqual(await received(), ['a "1"', 'a "2"', 'a "3"', 'a "4"', 'a null', 'a "5"']);
    });

    it('reach all channels that have the last value of their key', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['a', 'K1', '"1"'], ['b', 'K1', '"2"'], ['a', 'K1', '"3"'], ['*', 'K1', 'null']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], [undefined, undefined]);
      assert.deepEqual(await received(), ['a "1"', 'a "3"', 'a null', 'b "2"', 'b null']);
    });

    it('that name a channel are left out if its state is of a key that does not name it', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['a', 'K1', '"1"'], ['b', undefined, '"2"']);
      await publish(['a', undefined, 'null'], ['b', undefined, 'null']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], ['"1"', undefined]);
      assert.deepEqual(await received(), ['a "1"', 'b "2"', 'b null']);
    });

    it('are in the history of each channel that they reach', async (t) => {
      const { bus, nameOf, publish } = await indexed(t, { entries: 10, bytes: 1000, seconds: 60 });
      await publish(['a', 'K1', '"1"']);
      const first = (await bus.history(nameOf('a'), LAST)).entries[0]!.coordinates.entry;
      await publish(['*', 'K1', 'null'], ['a', 'K1', '"2"']);
      const { entries } = await bus.history(nameOf('a'), { ...LAST, from: first });
      assert.deepEqual(
        entries.map(({ payload }) => String(payload)),
        ['"1"', 'null', '"2"'],
      );
    });

    it(`reach the ${MAX_STATES_OF_KEY} channels that their key reached last`, async (t) => {
      const { publish, stateOf } = await indexed(t);
      const ids = Array.from({ length: channels }, (_, i) => `c${i}`);
      await publish(...ids.map((id): [string, string, string] => [id, 'K1', '"1"']));
      await publish(['*', 'K1', 'null']);
      const states = await Promise.all(ids.map(stateOf));
      assert.deepEqual(new Set(states.slice(-MAX_STATES_OF_KEY)), new Set([undefined]));
      assert.equal(states[0], '"1"', 'the first is beyond the bound');
    });

    it('reach nobody after the seconds of the state', async (t) => {
      const { publish, stateOf, received } = await indexed(t, { stateSeconds: 1 });
      await publish(['a', 'K1', '"1"']);
      await waitFor('the end of the state', async () => (await stateOf('a')) === undefined);
      await publish(['a', 'K2', '"2"'], ['*', 'K2', 'null']);
      assert.deepEqual(await received(), ['a "1"', 'a "2"', 'a null']);
    });
  });
}
