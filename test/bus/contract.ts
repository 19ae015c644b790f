import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import type { Bus, BusObserver } from '../../src/bus/bus.ts';
import type { Unsubscribe } from '../../src/bus/feed.ts';
import { channelName } from '../../src/bus/channel.ts';
import { compareEntryIds } from '../../src/bus/entry-id.ts';
import type { HistoryLimits, Retention } from '../../src/bus/history.ts';
import type { Coordinates } from '../../src/bus/coordinates.ts';
import { fillStartId, isComplete } from '../../src/bus/state-fill.ts';
import { BusUnavailableError, FencedError } from '../../src/base/errors.ts';
import type { Logger } from '../../src/base/log.ts';
import type { TraceContext } from '../../src/base/trace-context.ts';
import { publisherOf } from '../support/partition-publisher.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { logLines } from './log-lines.ts';

export interface BusUnderTest {
  readonly log: Logger;
  readonly observer?: BusObserver;
}

/** Creates a bus that is not started. Publishers and subscribers of one test may use several that reach each other. */
export type MakeBus = (t: TestContext, options: BusUnderTest) => Promise<Bus>;

export async function started(t: TestContext, makeBus: MakeBus, observer: BusObserver = {}) {
  const { log, lines } = logLines();
  const bus = await makeBus(t, { log, observer });
  t.after(() => bus.close());
  await bus.start();
  return { bus, lines };
}

/** Publishes a last message on the channel and waits until a listener has received it. */
export async function settled(bus: Bus, channel: string): Promise<void> {
  const end = randomName('end');
  let isSeen = false;
  const unsubscribe = await bus.subscribe(channel, (payload) => (isSeen ||= String(payload) === end));
  await publisherOf(bus, randomName('topic'), 9).publish([{ channel, payload: end }]);
  await waitFor('the last message', () => isSeen);
  unsubscribe();
}

/** What every bus promises (src/bus/bus.ts). */
export function busContract(name: string, makeBus: MakeBus): void {
  describe(`${name}: delivery`, () => {
    it('delivers a message that is published right after subscribe resolves', async (t) => {
      const { bus } = await started(t, makeBus);
      for (let round = 0; round < 50; round++) {
        const channel = randomName();
        const seen: string[] = [];
        await bus.subscribe(channel, (payload) => seen.push(String(payload)));
        await publisherOf(bus).publish([{ channel, payload: `${round}` }]);
        await waitFor('the message', () => seen.length > 0);
        assert.deepEqual(seen, [`${round}`]);
      }
    });

    it('keeps the order of a channel over many publishes, awaited or not', async (t) => {
      const { bus } = await started(t, makeBus);
      const channels = Array.from({ length: 7 }, () => randomName());
      const seen = new Map(channels.map((channel) => [channel, [] as string[]]));
      for (const channel of channels)
        await bus.subscribe(channel, (payload) => seen.get(channel)!.push(String(payload)));
      let sequence = 0;
      const calls: Promise<void>[] = [];
      for (let call = 0; call < 40; call++) {
        const messages: { channel: string; payload: string }[] = [];
        for (let i = 0; i < 25; i++) messages.push({ channel: channels[sequence % 7]!, payload: `${sequence++}` });
        calls.push(publisherOf(bus).publish(messages));
        if (call % 10 === 9) await Promise.all(calls.splice(0));
      }
      await waitFor('all messages', () => [...seen.values()].flat().length === 1000);
      channels.forEach((channel, i) => {
        const expected = Array.from({ length: 1000 }, (_, n) => n).filter((n) => n % 7 === i);
        assert.deepEqual(seen.get(channel), expected.map(String));
      });
    });

    it('delivers any text unchanged and unparsed, published as text or as its bytes', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      const seen: string[] = [];
      await bus.subscribe(channel, (payload) => seen.push(String(payload)));
      const payloads = [
        '{"a":1}',
        '{',
        'null',
        'é🎺\u0000\r\n$5\r\n',
        'x'.repeat(300_000),
        ...fc.sample(fc.string({ unit: 'grapheme', minLength: 1 }), 200),
      ];
      await publisherOf(bus).publish(payloads.map((payload) => ({ channel, payload })));
      await publisherOf(bus).publish(payloads.map((payload) => ({ channel, payload: Buffer.from(payload) })));
      await waitFor('all payloads', () => seen.length === 2 * payloads.length);
      assert.deepEqual(seen, [...payloads, ...payloads]);
    });

    it('delivers to the right channel whatever characters its values hold', async (t) => {
      const { bus } = await started(t, makeBus);
      const values = ['a', 'b', '*', '?', '[a]', '"', '\n', '\ud800', '\ufffd', 'é', '__proto__', undefined];
      const prefix = randomName();
      const channels = values.map((value) => channelName(prefix, 'bids', [{ path: 'bid.id', value }]));
      const seen: string[] = [];
      for (const [i, channel] of channels.entries())
        await bus.subscribe(channel, (payload) => seen.push(`${i}:${String(payload)}`));
      await publisherOf(bus).publish(channels.map((channel, i) => ({ channel, payload: `${i}` })));
      await waitFor('one message for each', () => seen.length >= channels.length);
      for (const channel of channels) await settled(bus, channel);
      const expected = channels.map((_, i) => `${i}:${i}`);
      assert.deepEqual(seen.filter((entry) => !entry.includes('end')).sort(), expected.sort());
    });

    it('misses no message after the first that a listener receives', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      let isOver = false;
      const flood = (async () => {
        for (let i = 0; !isOver; i++) await publisherOf(bus).publish([{ channel, payload: `${i}` }]);
      })();
      for (let round = 0; round < 30; round++) {
        const seen: number[] = [];
        const unsubscribe = await bus.subscribe(channel, (payload) => seen.push(Number(String(payload))));
        await waitFor('messages', () => seen.length > 5);
        unsubscribe();
        // In every other round the channel is unsubscribed before it is subscribed again.
        if (round % 2 === 0) await new Promise(setImmediate);
        assert.deepEqual(
          seen,
          seen.map((_, i) => seen[0]! + i),
        );
      }
      isOver = true;
      await flood;
    });
  });

  describe(`${name}: listeners`, () => {
    it('delivers to every listener of a channel, and twice to a function that listens twice', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      let calls = 0;
      const listener = () => void calls++;
      const first = await bus.subscribe(channel, listener);
      await bus.subscribe(channel, listener);
      await bus.subscribe(channel, () => void (calls += 10));
      await publisherOf(bus).publish([{ channel, payload: 'x' }]);
      await waitFor('three calls', () => calls === 12);
      first();
      first();
      await publisherOf(bus).publish([{ channel, payload: 'x' }]);
      await waitFor('two calls', () => calls === 23);
    });

    it('never calls a listener after its unsubscribe returned, not even from another listener', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      const seen: string[] = [];
      let second: Unsubscribe = () => assert.fail('not yet subscribed');
      const first = await bus.subscribe(channel, (payload) => {
        seen.push(`first ${String(payload)}`);
        first();
        second();
      });
      second = await bus.subscribe(channel, (payload) => seen.push(`second ${String(payload)}`));
      await bus.subscribe(channel, (payload) => seen.push(`third ${String(payload)}`));
      await publisherOf(bus).publish([
        { channel, payload: '1' },
        { channel, payload: '2' },
      ]);
      await waitFor('the third listener', () => seen.includes('third 2'));
      assert.deepEqual(seen, ['first 1', 'third 1', 'third 2']);
    });

    it('logs a listener that throws and keeps delivering; the publish succeeds', async (t) => {
      const { bus, lines } = await started(t, makeBus);
      const channel = randomName();
      const seen: string[] = [];
      await bus.subscribe(channel, () => {
        throw new Error('broken listener');
      });
      await bus.subscribe(channel, (payload) => seen.push(String(payload)));
      await publisherOf(bus).publish(['1', '2', '3'].map((payload) => ({ channel, payload })));
      await waitFor('all messages', () => seen.length === 3);
      const logged = lines.filter((line) => line.msg === 'a listener of a channel threw');
      assert.equal(logged.length, 1, 'once per window');
      assert.match(JSON.stringify(logged), /broken listener/);
    });

    it('delivers a message once to each of the listeners that subscribe to a channel at the same time', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      let calls = 0;
      await Promise.all(Array.from({ length: 100 }, () => bus.subscribe(channel, () => void calls++)));
      await publisherOf(bus).publish([{ channel, payload: 'x' }]);
      await settled(bus, channel);
      assert.equal(calls, 200, 'the message and the last one of `settled`');
    });

    it('keeps a subscription when a channel is unsubscribed and subscribed again in the same tick', async (t) => {
      const { bus } = await started(t, makeBus);
      const channel = randomName();
      const seen: number[] = [];
      let unsubscribe = await bus.subscribe(channel, () => undefined);
      for (let round = 0; round < 100; round++) {
        unsubscribe();
        const joining = bus.subscribe(channel, () => seen.push(round));
        if (round % 3 === 0) await new Promise(setImmediate);
        unsubscribe = await joining;
        await publisherOf(bus).publish([{ channel, payload: 'x' }]);
        await waitFor('the message', () => seen.at(-1) === round);
      }
    });
  });

  describe(`${name}: partitions`, () => {
    interface Seen extends Partial<Coordinates> {
      readonly payload: string;
    }

    /** A leased partition of a topic of its own, and the messages that arrive on a channel. */
    async function leased(t: TestContext) {
      const { bus } = await started(t, makeBus);
      const [topic, channel] = [randomName('topic'), randomName()];
      const seen: Seen[] = [];
      await bus.subscribe(channel, (payload, coordinates) => seen.push({ payload: String(payload), ...coordinates }));
      await bus.acquire({ topic, partition: 3, position: -1 });
      const publish = (from: number, to: number) => {
        const messages = Array.from({ length: to - from + 1 }, (_, i) => ({
          channel,
          payload: `{"n":${from + i}}`,
          offset: from + i,
          timestamp: 1000 + from + i,
        }));
        return bus.publish(messages, { topic, partition: 3, offset: to });
      };
      const arrived = async () => {
        await settled(bus, channel);
        return seen.filter(({ payload }) => payload.startsWith('{'));
      };
      return { bus, topic, publish, arrived };
    }

    it('gives each message the coordinates of its record', async (t) => {
      const { publish, arrived } = await leased(t);
      await publish(5, 6);
      const [one, two] = await arrived();
      assert.ok(one?.epoch !== undefined && Math.abs(Date.now() - one.epoch) < 60_000);
      assert.deepEqual(one, { payload: '{"n":5}', partition: 3, offset: 5, timestamp: 1005, epoch: one.epoch });
      assert.deepEqual(two, { payload: '{"n":6}', partition: 3, offset: 6, timestamp: 1006, epoch: one.epoch });
    });

    it('delivers one payload to all channels of a record', async (t) => {
      const { bus } = await started(t, makeBus);
      const topic = randomName('topic');
      const channels = Array.from({ length: 9 }, () => randomName());
      const seen: string[] = [];
      for (const channel of channels) await bus.subscribe(channel, (payload) => seen.push(String(payload)));
      await bus.acquire({ topic, partition: 0, position: -1 });
      const payload = '{"é":"🎺\\n@1 2 3 4\\n"}';
      await bus.publish(
        channels.map((channel) => ({ channel, payload, offset: 0, timestamp: 0 })),
        { topic, partition: 0, offset: 0 },
      );
      await waitFor('all of them', () => seen.length === channels.length);
      assert.deepEqual(new Set(seen), new Set([payload]));
    });

    it('delivers a message once, however often its publish is repeated', async (t) => {
      const { bus, topic, publish, arrived } = await leased(t);
      await publish(0, 9);
      await publish(0, 9);
      await publish(5, 14);
      await bus.acquire({ topic, partition: 3, position: 2 });
      await publish(3, 15);
      const seen = await arrived();
      assert.deepEqual(
        seen.map(({ offset }) => offset),
        Array.from({ length: 16 }, (_, n) => n),
      );
      assert.equal(new Set(seen.map(({ epoch }) => epoch)).size, 1, 'one epoch');
    });

    it('skips messages up to the position of an earlier publish without messages', async (t) => {
      const { publish, arrived } = await leased(t);
      await publish(6, 5);
      await publish(4, 7);
      assert.deepEqual(
        (await arrived()).map(({ offset }) => offset),
        [6, 7],
      );
    });

    it('publishes for many partitions at a time without mixing them up', async (t) => {
      const { bus } = await started(t, makeBus);
      const [topic, channel] = [randomName('topic'), randomName()];
      const seen = new Map<number, string[]>();
      await bus.subscribe(channel, (payload, { partition } = assert.fail('no coordinates')) => {
        seen.set(partition, [...(seen.get(partition) ?? []), String(payload)]);
      });
      const partitions = Array.from({ length: 12 }, (_, partition) => partition);
      const payloadOf = (partition: number, offset: number) => `${partition}:${offset}${'é'.repeat(partition * 400)}`;
      await Promise.all(partitions.map((partition) => bus.acquire({ topic, partition, position: -1 })));
      await Promise.all(
        partitions.map(async (partition) => {
          for (let offset = 0; offset < 60; offset += 20) {
            const messages = Array.from({ length: 20 }, (_, i) => ({
              channel,
              payload: payloadOf(partition, offset + i),
              offset: offset + i,
              timestamp: 0,
            }));
            await bus.publish(messages, { topic, partition, offset: offset + 19 });
          }
        }),
      );
      await waitFor('all messages', () => [...seen.values()].flat().length === 12 * 60);
      for (const partition of partitions) {
        const expected = Array.from({ length: 60 }, (_, offset) => payloadOf(partition, offset));
        assert.deepEqual(seen.get(partition), expected);
      }
    });

    it('refuses a publish for a partition that was not leased, and delivers none of it', async (t) => {
      const { bus, topic, arrived } = await leased(t);
      const message = { channel: 'x', payload: '{}', offset: 0, timestamp: 0 };
      await assert.rejects(bus.publish([message], { topic, partition: 4, offset: 0 }), FencedError);
      assert.deepEqual(await arrived(), []);
    });

    it('begins an epoch when the records do not continue the earlier ones, and delivers them from their first offset', async (t) => {
      const { bus, topic, publish, arrived } = await leased(t);
      await publish(0, 3);
      await bus.acquire({ topic, partition: 3, position: -1, startId: 'another' });
      await publish(0, 1);
      const seen = await arrived();
      assert.deepEqual(
        seen.map(({ offset }) => offset),
        [0, 1, 2, 3, 0, 1],
      );
      assert.ok(seen[4]!.epoch! > seen[3]!.epoch!);
      assert.equal(seen[5]!.epoch, seen[4]!.epoch);
    });

    it('begins one epoch for a start id, however often the lease is acquired, and delivers each message once', async (t) => {
      const { bus, topic, publish, arrived } = await leased(t);
      const acquire = (position: number, startId?: string) => bus.acquire({ topic, partition: 3, position, startId });
      await publish(0, 3);
      await acquire(-1, 'another');
      await publish(0, 1);
      await acquire(-1, 'another');
      await publish(0, 2);
      await acquire(2);
      await acquire(-1, 'another');
      await publish(0, 3);
      const seen = await arrived();
      assert.deepEqual(
        seen.map(({ offset }) => offset),
        [0, 1, 2, 3, 0, 1, 2, 3],
      );
      assert.equal(new Set(seen.slice(4).map(({ epoch }) => epoch)).size, 1, 'one epoch');
    });

    it('distinguishes start ids, even if nothing was accepted under the first one', async (t) => {
      const { bus, topic, publish, arrived } = await leased(t);
      const acquire = (startId: string) => bus.acquire({ topic, partition: 3, position: -1, startId });
      await acquire('one');
      await acquire('two');
      await publish(0, 0);
      await acquire('one');
      await publish(0, 0);
      const [first, second] = await arrived();
      assert.ok(second!.epoch! > first!.epoch!);
    });

    it('keeps the epoch while further partitions of the topic are leased for the first time', async (t) => {
      const { bus, topic, publish, arrived } = await leased(t);
      await publish(0, 0);
      await bus.acquire({ topic, partition: 4, position: -1, startId: 'one' });
      await bus.acquire({ topic, partition: 4, position: -1, startId: 'two' });
      await publish(1, 1);
      const [one, two] = await arrived();
      assert.equal(one!.epoch, two!.epoch);
    });
  });

  describe(`${name}: history`, () => {
    const LIMITS = { entries: 100, bytes: 1_000_000, seconds: 60 };
    const ALL = { from: undefined, maxEntries: 1000, maxBytes: 10_000_000 };

    /** A leased partition, its only channel, and the messages that its listeners received. */
    async function kept(t: TestContext) {
      const { bus } = await started(t, makeBus);
      const topic = randomName('topic');
      const channel = `${topic}{}`;
      const seen: Coordinates[] = [];
      await bus.subscribe(channel, (_payload, coordinates) => coordinates?.partition === 0 && seen.push(coordinates));
      const acquire = (startId?: string) => bus.acquire({ topic, partition: 0, position: -1, startId });
      await acquire();
      const publish = (offset: number, history: HistoryLimits = LIMITS, payload = `${offset}`) =>
        bus.publish([{ channel, payload, offset, timestamp: 5, history }], { topic, partition: 0, offset });
      const read = async (from: string | undefined, query: Partial<typeof ALL> = {}) => {
        const { entries } = await bus.history(channel, { ...ALL, ...query, from });
        return entries.map(({ payload }) => String(payload));
      };
      const arrived = async () => {
        await settled(bus, channel);
        return seen;
      };
      return { bus, topic, channel, acquire, publish, read, arrived };
    }

    it('returns the messages from any entry on, with the coordinates that listeners received', async (t) => {
      const { bus, channel, publish, read, arrived } = await kept(t);
      for (let offset = 0; offset < 5; offset++) await publish(offset);
      await publish(4);
      const seen = await arrived();
      const { epoch, entries } = await bus.history(channel, { ...ALL, from: seen[2]!.entry });
      assert.deepEqual(
        entries.map(({ payload }) => String(payload)),
        ['2', '3', '4'],
      );
      assert.deepEqual(entries[1]!.coordinates, seen[3]);
      assert.equal(epoch, seen[0]!.epoch);
      assert.deepEqual(await read(undefined), ['4']);
    });

    it('keeps a copy of published bytes', async (t) => {
      const { bus, topic, channel, read } = await kept(t);
      const payload = Buffer.from('"é"');
      const message = { channel, payload, offset: 0, timestamp: 5, history: LIMITS };
      await bus.publish([message], { topic, partition: 0, offset: 0 });
      payload.fill('x');
      assert.deepEqual(await read(undefined), ['"é"']);
    });

    it('chains the messages of a channel, so that a listener can detect a missing one', async (t) => {
      const { publish, arrived } = await kept(t);
      for (let offset = 0; offset < 5; offset++) await publish(offset);
      const seen = await arrived();
      assert.equal(seen[0]!.previous, undefined);
      for (let i = 1; i < 5; i++) assert.equal(seen[i]!.previous, seen[i - 1]!.entry);
      for (let i = 1; i < 5; i++) assert.ok(compareEntryIds(seen[i]!.entry!, seen[i - 1]!.entry!) > 0);
      for (const { entry } of seen) assert.match(entry!, /^[\w-]{1,64}$/, 'a cursor holds it as it is');
    });

    it('keeps at most its limits of entries and bytes, and always the last entry', async (t) => {
      const { publish, read, arrived } = await kept(t);
      for (let offset = 0; offset < 5; offset++) await publish(offset, { ...LIMITS, entries: 3 });
      const [first, , third] = await arrived();
      assert.deepEqual(await read(third!.entry), ['2', '3', '4']);
      assert.notEqual((await read(first!.entry))[0], '0', 'the first is gone');
      const long = 'x'.repeat(100);
      for (let offset = 5; offset < 9; offset++) await publish(offset, { ...LIMITS, bytes: 250 }, long);
      assert.deepEqual(await read((await arrived())[7]!.entry), [long, long]);
      assert.notDeepEqual(await read((await arrived())[5]!.entry), [long, long, long]);
      await publish(9, { ...LIMITS, bytes: 10 }, long);
      assert.deepEqual(await read(undefined), [long]);
    });

    it('chains and bounds the messages of one publish like those of many', async (t) => {
      const { bus, channel, topic, publish, read, arrived } = await kept(t);
      const other = `${topic}{"other"}`;
      const publishAll = (from: number, to: number, history: HistoryLimits) => {
        const offsets = Array.from({ length: to - from + 1 }, (_, i) => from + i);
        const messages = offsets.flatMap((offset) =>
          [channel, other].map((name) => ({ channel: name, payload: `${offset}`, offset, timestamp: 5, history })),
        );
        return bus.publish(messages, { topic, partition: 0, offset: to });
      };
      await publish(0);
      await publishAll(1, 6, { ...LIMITS, entries: 4 });
      await publishAll(7, 8, { ...LIMITS, bytes: 3 });
      await publish(9);
      const seen = await arrived();
      for (let i = 1; i < 10; i++) assert.equal(seen[i]!.previous, seen[i - 1]!.entry);
      assert.deepEqual(await read(seen[6]!.entry), ['6', '7', '8', '9']);
      assert.notEqual((await read(seen[5]!.entry))[0], '5', 'the bytes of a channel are its own');
      const { entries } = await bus.history(other, { ...ALL, from: undefined });
      assert.equal(entries[0]!.coordinates.offset, 8);
    });

    it('applies to each message of a publish its own limits, and keeps none without limits', async (t) => {
      const { bus, topic, publish } = await kept(t);
      const all: [string, HistoryLimits | undefined][] = [
        [`${topic}{"plain"}`, undefined],
        [`${topic}{"two"}`, { ...LIMITS, entries: 2 }],
        [`${topic}{"three"}`, { ...LIMITS, entries: 3 }],
        [`${topic}{"none"}`, { ...LIMITS, entries: 0 }],
      ];
      const seen: string[] = [];
      for (const [name] of all) {
        await bus.subscribe(name, (payload, coordinates) =>
          seen.push(`${name.slice(topic.length)} ${String(payload)} ${coordinates?.offset} ${!!coordinates?.entry}`),
        );
      }
      const publishAll = (from: number, to: number) => {
        const offsets = Array.from({ length: to - from + 1 }, (_, i) => from + i);
        const messages = offsets.flatMap((offset) =>
          all.map(([channel, history]) => ({ channel, payload: `p${offset}é`, offset, timestamp: -5, history })),
        );
        return bus.publish(messages, { topic, partition: 0, offset: to });
      };
      await publish(0);
      await publishAll(1, 2);
      await publishAll(1, 4);
      await settled(bus, all[0]![0]);
      const expected = [1, 2, 3, 4].flatMap((n) =>
        ['{"plain"} # false', '{"two"} # true', '{"three"} # true', '{"none"} # false'].map((each) =>
          each.replace('#', `p${n}é ${n}`),
        ),
      );
      assert.deepEqual(seen.filter((each) => each.includes('é')).sort(), expected.sort());
      for (const [i, [name]] of all.entries()) {
        const last = await bus.history(name, { ...ALL, from: undefined });
        assert.deepEqual(
          last.entries.map(({ payload, coordinates }) => `${String(payload)} ${coordinates.timestamp}`),
          i === 1 || i === 2 ? ['p4é -5'] : [],
        );
      }
    });

    it('carries the trace context of each sampled message to listeners, and keeps none in the history', async (t) => {
      const { bus, topic, publish } = await kept(t);
      const channels = [`${topic}{"kept"}`, `${topic}{"plain"}`, `${topic}{"another"}`];
      const seen = new Map(channels.map((channel) => [channel, [] as unknown[]]));
      for (const channel of channels) {
        await bus.subscribe(channel, (payload, { offset, trace } = assert.fail('no coordinates')) => {
          seen.get(channel)!.push([offset, String(payload), trace]);
        });
      }
      const contextOf = (n: number): TraceContext => ({
        traceId: `${n}`.repeat(32),
        spanId: `${n}`.repeat(16),
        isSampled: true,
        ...(n === 4 && { state: 'vendor=a:b,other=c' }),
      });
      // Equal payloads in sequence are sent to Redis once.
      const traces = [undefined, contextOf(1), contextOf(2), undefined, undefined, contextOf(4)];
      const payloads = ['a', 'a', 'a', 'a', 'b', 'b'];
      const messages = traces.flatMap((trace, i) =>
        channels.map((channel, n) => {
          const message = { channel, payload: payloads[i]!, offset: i + 1, timestamp: 5 };
          return { ...message, ...(n === 0 && { history: LIMITS }), ...(trace && { trace }) };
        }),
      );
      await publish(0);
      await bus.publish(messages, { topic, partition: 0, offset: traces.length });
      await waitFor('all messages', () => [...seen.values()].flat().length === messages.length);
      const expected = traces.map((trace, i) => [i + 1, payloads[i], trace]);
      for (const channel of channels) assert.deepEqual(seen.get(channel), expected);
      const { entries } = await bus.history(channels[0]!, { ...ALL, from: undefined });
      assert.deepEqual(
        entries.map(({ coordinates }) => [coordinates.offset, coordinates.trace]),
        [[traces.length, undefined]],
      );
    });

    it('carries the parts of each record to listeners, and keeps them in the history', async (t) => {
      const { bus, topic, publish } = await kept(t);
      const channels = [`${topic}{"kept"}`, `${topic}{"plain"}`];
      const seen = new Map(channels.map((channel) => [channel, [] as unknown[]]));
      for (const channel of channels) {
        await bus.subscribe(channel, (payload, { offset, trace, record } = assert.fail('no coordinates')) => {
          seen.get(channel)!.push([offset, String(payload), trace !== undefined, record]);
        });
      }
      const trace: TraceContext = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), isSampled: true };
      const parts = [undefined, 'a', 'a', 'b'.repeat(4096), undefined, '-'];
      const payloads = ['1', '1', '1', '1', '2', '2'];
      const messages = parts.flatMap((record, i) =>
        channels.map((channel, n) => {
          const message = { channel, payload: payloads[i]!, offset: i + 1, timestamp: 5 };
          const history = n === 0 && { history: LIMITS };
          return { ...message, ...history, ...(record && { record }), ...(i > 1 && i < 5 && { trace }) };
        }),
      );
      await publish(0);
      await bus.publish(messages, { topic, partition: 0, offset: parts.length });
      await waitFor('all messages', () => [...seen.values()].flat().length === messages.length);
      const expected = parts.map((record, i) => [i + 1, payloads[i], i > 1 && i < 5, record]);
      for (const channel of channels) assert.deepEqual(seen.get(channel), expected);
      const last = await bus.history(channels[0]!, { ...ALL, from: undefined });
      assert.equal(last.entries[0]!.coordinates.record, '-');
    });

    it('keeps the parts of replayed messages, and counts their bytes', async (t) => {
      const { bus, topic, channel, publish, arrived } = await kept(t);
      await publish(0);
      const record = 'k'.repeat(400);
      const publishAll = (from: number, history: HistoryLimits) => {
        const messages = [0, 1, 2].map((i) => ({
          channel,
          payload: '1',
          offset: from + i,
          timestamp: 5,
          history,
          record,
        }));
        return bus.publish(messages, { topic, partition: 0, offset: from + 2 });
      };
      await publishAll(1, LIMITS);
      const { entry } = (await arrived())[0]!;
      const { entries } = await bus.history(channel, { ...ALL, from: entry });
      assert.deepEqual(
        entries.map(({ coordinates }) => coordinates.record),
        [undefined, record, record, record],
      );
      assert.equal((await bus.history(channel, { ...ALL, from: entry, maxBytes: 800 })).entries.length, 0);
      assert.equal((await bus.history(channel, { ...ALL, from: entry, maxBytes: 900 })).entries.length, 4);
      await publishAll(4, { ...LIMITS, bytes: 900 });
      const trimmed = await bus.history(channel, { ...ALL, from: (await arrived())[5]!.entry });
      assert.equal(trimmed.entries.length, 2);
      const gone = (await arrived())[4]!.entry;
      const after = await bus.history(channel, { ...ALL, from: gone });
      assert.ok(after.entries.every(({ coordinates }) => coordinates.entry !== gone));
    });

    it('removes the history of a channel after its limit in seconds', async (t) => {
      const { publish, read } = await kept(t);
      const began = performance.now();
      await publish(0, { ...LIMITS, seconds: 1 });
      await waitFor('the end', async () => (await read(undefined)).length === 0);
      assert.ok(performance.now() - began > 900, 'not before');
    });

    it('returns no entries if there are more than the query allows', async (t) => {
      const { publish, read, arrived } = await kept(t);
      for (let offset = 0; offset < 5; offset++) await publish(offset, LIMITS, 'x'.repeat(100));
      const from = (await arrived())[0]!.entry;
      assert.equal((await read(from, { maxEntries: 5 })).length, 5);
      assert.deepEqual(await read(from, { maxEntries: 4 }), []);
      assert.deepEqual(await read(from, { maxBytes: 399 }), []);
    });

    it('has no history of messages published without one, and still returns the epoch', async (t) => {
      const { bus, channel, acquire, publish, read } = await kept(t);
      await publish(0, { entries: 0, bytes: 0, seconds: 0 });
      assert.deepEqual(await read(undefined), []);
      const { epoch } = await bus.history(channel, { ...ALL, from: undefined });
      await acquire('another');
      assert.ok((await bus.history(channel, { ...ALL, from: undefined })).epoch > epoch);
      assert.equal((await bus.history(randomName(), { ...ALL, from: undefined })).epoch, 0);
    });
  });

  // Some of them wait for a second.
  describe(`${name}: state`, { concurrency: 8 }, () => {
    const LAST = { from: undefined, maxEntries: 10, maxBytes: 1_000_000 };
    const FOREVER = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0 };
    const HISTORY = { entries: 10, bytes: 1_000_000, seconds: 60 };

    /** A leased partition, its only channel, and the messages that its listeners received. */
    async function stateful(t: TestContext) {
      const { bus } = await started(t, makeBus);
      const topic = randomName('topic');
      const channel = `${topic}{}`;
      const seen: Coordinates[] = [];
      await bus.subscribe(channel, (_payload, coordinates) => coordinates?.partition === 0 && seen.push(coordinates));
      await bus.acquire({ topic, partition: 0, position: -1 });
      const publish = (payloads: readonly string[], from: number, history: Retention = FOREVER) => {
        const messages = payloads.map((payload, i) => ({ channel, payload, offset: from + i, timestamp: 5, history }));
        return bus.publish(messages, { topic, partition: 0, offset: from + payloads.length - 1 });
      };
      const read = async (from?: string) => {
        const { entries } = await bus.history(channel, { ...LAST, from });
        return entries.map(({ payload }) => String(payload));
      };
      return { bus, channel, seen, publish, read };
    }

    it('is the last message of the channel, with the coordinates that listeners received', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      assert.deepEqual(await read(), []);
      await publish(['"a"', '"b"'], 0);
      await publish(['"c"'], 2);
      await settled(bus, channel);
      const { epoch, entries } = await bus.history(channel, LAST);
      assert.deepEqual(await read(), ['"c"']);
      assert.equal(epoch, seen[2]!.epoch);
      const { previous, ...coordinates } = seen[2]!;
      assert.equal(previous, seen[1]!.entry);
      assert.deepEqual({ ...entries[0]!.coordinates, previous: undefined }, { ...coordinates, previous: undefined });
    });

    it('keeps the parts of its record, with and without a history', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      const publishOne = (offset: number, history: Retention, record?: string) =>
        bus.publish([{ channel, payload: `"${offset}"`, offset, timestamp: 5, history, record }], {
          topic: channel.slice(0, -2),
          partition: 0,
          offset,
        });
      const last = async () => (await bus.history(channel, LAST)).entries[0]!.coordinates;
      await publishOne(0, FOREVER, 'parts');
      assert.equal((await last()).record, 'parts');
      await publishOne(1, FOREVER, 'more');
      await settled(bus, channel);
      assert.deepEqual(
        seen.map(({ record }) => record),
        ['parts', 'more'],
      );
      assert.equal(seen[1]!.previous, seen[0]!.entry);
      assert.deepEqual(await read(seen[1]!.entry), ['"1"']);
      for (const offset of [2, 3]) await publishOne(offset, { ...HISTORY, stateSeconds: 0, seconds: 1 }, 'both');
      await settled(bus, channel);
      await waitFor('the end of the history', async () => (await read(seen[2]!.entry)).length === 0);
      assert.equal((await last()).record, 'both');
      await publishOne(4, FOREVER);
      assert.equal((await last()).record, undefined);
      await publish(['null'], 5);
      assert.deepEqual(await read(), []);
    });

    it('answers a reader that has seen it, and no reader that has seen another message', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      await publish(['"a"', '"b"'], 0);
      await settled(bus, channel);
      assert.deepEqual(await read(seen[1]!.entry), ['"b"']);
      assert.deepEqual(await read(seen[0]!.entry), []);
    });

    it('is removed by a tombstone, and the ids of entries grow across it', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      await publish(['"a"', 'null'], 0);
      assert.deepEqual(await read(), []);
      await publish(['"b"', 'null', '"c"'], 2);
      await publish(['"d"'], 5);
      await settled(bus, channel);
      assert.deepEqual(await read(), ['"d"']);
      for (let i = 1; i < seen.length; i++)
        assert.ok(compareEntryIds(seen[i]!.entry!, seen[i - 1]!.entry!) > 0, `${i}`);
    });

    it('ends after its seconds', async (t) => {
      const { publish, read } = await stateful(t);
      await publish(['"a"'], 0, { ...FOREVER, stateSeconds: 1 });
      assert.deepEqual(await read(), ['"a"']);
      await waitFor('its end', async () => (await read()).length === 0);
    });

    it('is read where a worker without the history has published since, and nobody resumes from that history', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      await publish(['"a"', '"b"'], 0, { ...HISTORY, stateSeconds: 0 });
      await publish(['"c"'], 2);
      await settled(bus, channel);
      assert.deepEqual(await read(), ['"c"']);
      assert.deepEqual(await read(seen[0]!.entry), []);
      assert.deepEqual(await read(seen[2]!.entry), ['"c"']);
      await publish(['"d"'], 3, { ...HISTORY, stateSeconds: 0 });
      assert.deepEqual(await read(), ['"d"']);
    });

    it('stays when the history of the channel ends', async (t) => {
      const { bus, channel, seen, publish, read } = await stateful(t);
      const both = { ...HISTORY, stateSeconds: 0 };
      await publish(['"a"', '"b"'], 0, both);
      assert.deepEqual(await read(), ['"b"']);
      await publish(['"c"'], 2, { ...both, seconds: 1 });
      await settled(bus, channel);
      assert.deepEqual(await read(seen[1]!.entry), ['"b"', '"c"']);
      await waitFor('the end of the history', async () => (await read(seen[1]!.entry)).length === 0);
      assert.deepEqual(await read(), ['"c"']);
    });
  });

  describe(`${name}: fills of states`, () => {
    it('begin with a lease, end once, and begin again where other states are kept', async (t) => {
      const { bus } = await started(t, makeBus);
      const topic = randomName('topic');
      const read = async () => {
        const { partitions, fills } = await bus.stateFills.read(topic);
        return { partitions, fills: [...fills] };
      };
      assert.deepEqual(await read(), { partitions: 0, fills: [] });
      await bus.stateFills.read(topic, 2);
      const lease = (partition: number, signature: string, end: number) =>
        bus.acquire({ topic, partition, position: -1, signature, startId: fillStartId(signature, end) });
      await lease(0, 'aa', 7);
      assert.deepEqual(await read(), { partitions: 2, fills: [[0, { signature: 'aa', end: 7 }]] });
      await lease(1, 'aa', 0);
      await bus.stateFills.end(topic, 1, 'aa');
      await bus.stateFills.end(topic, 0, 'another');
      assert.deepEqual(await read(), {
        partitions: 2,
        fills: [
          [0, { signature: 'aa', end: 7 }],
          [1, { signature: 'aa', end: undefined }],
        ],
      });
      assert.equal(isComplete(await bus.stateFills.read(topic), 'aa'), false);
      await bus.stateFills.end(topic, 0, 'aa');
      assert.equal(isComplete(await bus.stateFills.read(topic), 'aa'), true);
      assert.equal(isComplete(await bus.stateFills.read(topic), 'bb'), false);
      await lease(1, 'bb', 9);
      assert.deepEqual((await read()).fills[1], [1, { signature: 'bb', end: 9 }]);
    });
  });

  describe(`${name}: agreed values`, () => {
    it('are the first proposal for their name', async (t) => {
      const { bus } = await started(t, makeBus);
      const [one, two] = [randomName(), randomName()];
      assert.equal(await bus.agree(one, 'a'), 'a');
      assert.equal(await bus.agree(one, 'b'), 'a');
      assert.equal(await bus.agree(two, 'c'), 'c');
    });
  });

  describe(`${name}: lifecycle`, () => {
    it('reports to its observer each publish, also one without listeners or messages, and each refused one', async (t) => {
      const counts = { published: [] as number[], failed: [] as number[] };
      const { bus } = await started(t, makeBus, {
        onPublish: (messages) => void counts.published.push(messages),
        onPublishFailure: (messages) => void counts.failed.push(messages),
      });
      const message = { channel: randomName(), payload: 'x' };
      await publisherOf(bus).publish([message, message]);
      await publisherOf(bus).publish([]);
      assert.deepEqual(counts, { published: [2, 0], failed: [] });
      await bus.close();
      await assert.rejects(publisherOf(bus).publish([message]), BusUnavailableError);
      assert.deepEqual(counts, { published: [2, 0], failed: [1] });
    });

    it('is available between start and close', async (t) => {
      const { log } = logLines();
      const bus = await makeBus(t, { log });
      assert.equal(bus.isAvailable, false);
      await assert.rejects(publisherOf(bus).publish([{ channel: 'a', payload: 'x' }]), BusUnavailableError);
      await assert.rejects(
        bus.subscribe('a', () => undefined),
        { name: 'BusUnavailableError', message: 'the bus is not started' },
      );
      await bus.start();
      await bus.start();
      assert.equal(bus.isAvailable, true);
      await bus.close();
      assert.equal(bus.isAvailable, false);
    });

    it('closes before start, twice, and refuses every call afterwards', async (t) => {
      const { log } = logLines();
      const bus = await makeBus(t, { log });
      const closing = bus.close();
      assert.equal(bus.close(), closing);
      await closing;
      const refusal = { name: 'BusUnavailableError', message: 'the bus is closed' };
      await assert.rejects(bus.start(), refusal);
      const message = { channel: 'a', payload: 'x', offset: 0, timestamp: 0 };
      await assert.rejects(bus.publish([message], { topic: 't', partition: 0, offset: 0 }), refusal);
      await assert.rejects(bus.acquire({ topic: 't', partition: 0, position: -1 }), refusal);
      await assert.rejects(
        bus.subscribe('a', () => undefined),
        refusal,
      );
    });

    it('closes during start', async (t) => {
      const { log } = logLines();
      const bus = await makeBus(t, { log });
      const starting = bus.start();
      await Promise.all([starting, bus.close()]);
      assert.equal(bus.isAvailable, false);
    });

    it('closes with subscribes and publishes in flight: each settles, nothing is delivered afterwards', async (t) => {
      const { bus } = await started(t, makeBus);
      const live = randomName();
      let isClosed = false;
      let late = 0;
      const listener = () => void (late += isClosed ? 1 : 0);
      const unsubscribe = await bus.subscribe(live, listener);
      const inFlight = [
        ...Array.from({ length: 20 }, (_, i) => bus.subscribe(`${live}${i}`, listener)),
        ...Array.from({ length: 20 }, () => publisherOf(bus).publish([{ channel: live, payload: 'x' }])),
      ];
      const closing = bus.close();
      isClosed = true;
      const outcomes = await Promise.allSettled(inFlight);
      await closing;
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected')
          assert.ok(outcome.reason instanceof BusUnavailableError, String(outcome.reason));
      }
      assert.equal(late, 0);
      unsubscribe();
    });
  });
}
