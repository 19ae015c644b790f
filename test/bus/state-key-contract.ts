import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { STATES_OF_KEY } from '../../src/bus/bus-message.ts';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import type { Coordinates } from '../../src/bus/coordinates.ts';
import type { Retention } from '../../src/bus/history.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { settled, started } from './contract.ts';
import type { MakeBus } from './contract.ts';

/** What every bus promises of tombstones, and of records that move to another channel, which are routed by the states of channels. */
export function stateKeyContract(name: string, makeBus: MakeBus): void {
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
    const publishMessages = (messages: readonly ChannelMessage[]) =>
      bus.publish(messages, { topic, partition: 0, offset: messages.at(-1)!.offset });
    type Line = readonly [id: string, keyHash: string | undefined, payload: string, parts?: Partial<ChannelMessage>];
    /** `id`: '*' of a message for the states of its key. */
    const messagesOf = (...lines: readonly Line[]) =>
      lines.map(([id, keyHash, payload, parts]): ChannelMessage => {
        const channel = id === STATES_OF_KEY ? id : nameOf(id);
        return { channel, payload, offset: offset++, timestamp: 5, history, ...(keyHash && { keyHash }), ...parts };
      });
    /** In one call. */
    const publish = (...lines: readonly Line[]) => publishMessages(messagesOf(...lines));
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
    return { bus, topic, nameOf, messagesOf, publishMessages, publish, stateOf, received };
  }

  describe(`${name}: tombstones by the key of a state`, () => {
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

    it('reach nobody after the seconds of the state', async (t) => {
      const { publish, stateOf, received } = await indexed(t, { stateSeconds: 1 });
      await publish(['a', 'K1', '"1"']);
      await waitFor('the end of the state', async () => (await stateOf('a')) === undefined);
      await publish(['a', 'K2', '"2"'], ['*', 'K2', 'null']);
      assert.deepEqual(await received(), ['a "1"', 'a "2"', 'a null']);
    });
  });

  describe(`${name}: a record that moves to another channel`, () => {
    it('ends the state of the former one with a tombstone, within one call and in a later one, there and back', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['a', 'K1', '"1"'], ['b', 'K1', '"2"']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], [undefined, '"2"']);
      assert.deepEqual(await received(), ['a "1"', 'a null', 'b "2"']);
      await publish(['a', 'K1', '"3"']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], ['"3"', undefined]);
      await publish(['a', 'K1', '"4"']);
      await publish(['*', 'K1', 'null']);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], [undefined, undefined]);
      assert.deepEqual(await received(), ['a "3"', 'a "4"', 'a null', 'b null']);
    });

    it('to and fro within one call leaves its state in the last channel only, whatever servers they have', async (t) => {
      const { publish, stateOf } = await indexed(t);
      const ids = Array.from({ length: 20 }, (_, i) => `c${i}`);
      const states = async () => (await Promise.all(ids.map(stateOf))).filter((state) => state !== undefined);
      const lines = ids.map((id): [string, string, string] => [id, 'K1', `"${id}"`]);
      await publish(...lines, ...lines.toReversed());
      assert.deepEqual(await states(), ['"c0"']);
      await publish(...lines);
      assert.deepEqual(await states(), ['"c19"']);
      for (const line of lines) await publish(line);
      assert.deepEqual(await states(), ['"c19"']);
    });

    it('leaves alone a state that is of another key since, and states of another index', async (t) => {
      const { nameOf, messagesOf, publish, publishMessages, stateOf, received } = await indexed(t);
      const history = { ...messagesOf(['a', 'K1', ''])[0]!.history!, keyIndex: 'other' };
      await publish(['a', 'K1', '"1"'], ['a', 'K2', '"2"']);
      await publishMessages(messagesOf(['b', 'K1', '"3"', { history }]));
      await publish(['c', 'K1', '"4"']);
      assert.deepEqual(
        [await stateOf('a'), await stateOf('b'), await stateOf('c')],
        ['"2"', '"3"', '"4"'],
        nameOf('a'),
      );
      assert.deepEqual(await received(), ['a "1"', 'a "2"', 'b "3"']);
    });

    it('is not published twice, and an earlier record that is published again ends no state of a later one', async (t) => {
      const { bus, topic, messagesOf, publishMessages, stateOf, received } = await indexed(t);
      const messages = messagesOf(['a', 'K1', '"1"'], ['b', 'K1', '"2"'], ['a', 'K1', '"3"'], ['b', 'K2', '"4"']);
      for (const message of messages) await publishMessages([message]);
      const before = await received();
      await bus.acquire({ topic, partition: 0, position: -1 });
      for (const message of messages.slice(0, 2)) await publishMessages([message]);
      await publishMessages(messages);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], ['"3"', '"4"']);
      assert.deepEqual(await received(), []);
      assert.deepEqual(before, ['a "1"', 'a null', 'a "3"', 'b "2"', 'b null', 'b "4"']);
    });

    it('shows the former channel nothing that it carries of its key and headers', async (t) => {
      const { bus, nameOf, publish } = await indexed(t);
      const seen: (string | undefined)[] = [];
      await bus.subscribe(
        nameOf('a'),
        (payload, coordinates) => void seen.push(`${String(payload)} ${coordinates?.record}`),
      );
      await publish(['a', 'K1', '"1"', { record: 'eyJhIjoxfQ' }], ['b', 'K1', '"2"', { record: 'eyJhIjoyfQ' }]);
      await waitFor('the tombstone', () => seen.length === 2);
      assert.deepEqual(seen, ['"1" eyJhIjoxfQ', 'null undefined']);
    });

    it('from a channel that its key names ends a state there, unless it is of another key', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      const isDeparture = true;
      await publish(['a', 'K9', 'null', { isDeparture }], ['a', undefined, '"1"'], ['b', 'K1', '"2"']);
      await publish(['a', 'K9', 'null', { isDeparture }], ['b', 'K9', 'null', { isDeparture }]);
      await publish(['a', 'K9', 'null', { isDeparture }]);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], [undefined, '"2"']);
      assert.deepEqual(await received(), ['a "1"', 'a null', 'b "2"']);
    });
  });

  describe(`${name}: the delete of a row`, () => {
    const DELETE = 'null\n{"op":"DELETE"}';

    for (const [what, limits] of [
      ['without a history', {}],
      ['with a history', { entries: 10, bytes: 1000, seconds: 60 }],
    ] as const) {
      it(`ends the state of its row only, ${what}`, async (t) => {
        const { bus, nameOf, publish, stateOf } = await indexed(t, limits);
        const seen: string[] = [];
        await bus.subscribe(nameOf('a'), (payload) => void seen.push(String(payload)));
        await publish(['a', 'K1', '"1"'], ['b', 'K2', '"2"']);
        await publish(['a', 'K2', DELETE], ['*', 'K2', 'null', { isDeparture: true }]);
        assert.deepEqual(
          [await stateOf('a'), await stateOf('b')],
          ['"1"', what === 'with a history' ? 'null' : undefined],
        );
        await publish(['a', 'K1', DELETE], ['*', 'K1', 'null', { isDeparture: true }]);
        assert.notEqual(await stateOf('a'), '"1"');
        await publish(['a', 'K3', '"3"'], ['a', undefined, DELETE]);
        assert.equal(await stateOf('a'), '"3"', 'the state is of a key');
        await waitFor('the last message', () => seen.length === 5);
        assert.deepEqual(seen, ['"1"', DELETE, DELETE, '"3"', DELETE]);
      });

      it(`of another row continues the entries of its channel, ${what}`, async (t) => {
        const { bus, nameOf, publish } = await indexed(t, limits);
        const seen: (Coordinates | undefined)[] = [];
        await bus.subscribe(nameOf('a'), (_, coordinates) => void seen.push(coordinates));
        await publish(['a', 'K1', '"1"'], ['a', 'K2', DELETE]);
        const [state] = (await bus.history(nameOf('a'), LAST)).entries;
        await publish(['a', 'K1', '"2"']);
        await waitFor('three messages', () => seen.length === 3);
        assert.deepEqual(
          [state?.coordinates.entry, state?.coordinates.offset, seen[2]?.previous],
          [seen[1]?.entry, 0, seen[1]?.entry],
        );
      });
    }

    it('of a channel and of the states of its key reaches the channel once', async (t) => {
      const { bus, nameOf, publish, stateOf } = await indexed(t);
      const seen: string[] = [];
      await bus.subscribe(nameOf('a'), (payload) => void seen.push(String(payload)));
      await publish(['a', 'K1', '"1"'], ['a', 'K1', DELETE], ['*', 'K1', DELETE], ['a', 'K2', '"2"']);
      await waitFor('the last message', () => seen.includes('"2"'));
      assert.deepEqual(seen, ['"1"', DELETE, '"2"']);
      await publish(['a', 'K3', DELETE], ['*', 'K3', DELETE], ['a', 'K2', '"3"']);
      await waitFor('the last message', () => seen.includes('"3"'));
      assert.deepEqual([seen.slice(3), await stateOf('a')], [[DELETE, '"3"'], '"3"']);
    });

    it('is no other tombstone: it reaches a channel whose state is of another key, and brings none to other channels', async (t) => {
      const { publish, stateOf, received } = await indexed(t);
      await publish(['b', 'K1', '"1"'], ['a', 'K2', '"2"'], ['a', 'K1', DELETE]);
      assert.deepEqual([await stateOf('a'), await stateOf('b')], ['"2"', '"1"']);
      assert.deepEqual(await received(), ['a "2"', 'b "1"']);
    });
  });
}
