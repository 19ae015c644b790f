import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Chunker, CHUNK_LIMITS, PendingConversion } from '../../src/kafka/batch.ts';
import type { BatchPorts, Chunk, ChunkLimits, Conversion, KafkaRecord, RecordContent } from '../../src/kafka/batch.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import { SchemaUnavailableError } from '../../src/kafka/decoding/schema-errors.ts';
import { STATES_OF_KEY } from '../../src/bus/bus-message.ts';
import { convert } from './consumer-harness.ts';

const record = (offset: number, value: string | null): KafkaRecord => ({
  topic: 'bids',
  partition: 0,
  offset,
  timestamp: 0,
  key: null,
  value: value === null ? null : Buffer.from(value),
});

async function allChunks(records: KafkaRecord[], ports: BatchPorts, limits?: ChunkLimits): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  const chunker = new Chunker(records, ports);
  while (chunker.next()) chunks.push(await chunker.take(limits ?? CHUNK_LIMITS));
  return chunks;
}

const channels = (...names: string[]) => names.map((channel) => ({ channel }));

describe('Chunker', () => {
  it('makes one message per channel, all with the same payload string', async () => {
    const [chunk] = await allChunks([record(0, '')], {
      convert: () => ({ payload: '{}', destinations: channels('a', 'b', 'c') }),
    });
    assert.deepEqual(chunk?.messages, [
      { channel: 'a', payload: '{}', offset: 0, timestamp: 0, history: undefined },
      { channel: 'b', payload: '{}', offset: 0, timestamp: 0, history: undefined },
      { channel: 'c', payload: '{}', offset: 0, timestamp: 0, history: undefined },
    ]);
  });

  it('counts a record without channels', async () => {
    const chunks = await allChunks([record(0, '')], { convert: () => ({ payload: '', destinations: [] }) });
    assert.deepEqual(
      chunks.map(({ messages, poison, recordCount }) => ({ messages, poison, recordCount })),
      [{ messages: [], poison: [], recordCount: 1 }],
    );
  });

  it('collects poison with its reason, and a record whose conversion throws as failed', async () => {
    const records = [record(0, '{}'), record(1, '7'), record(2, '{"a":1}'), record(3, '{"boom":1}')];
    const throwing = (one: RecordContent): Conversion => {
      if (one.value?.includes('boom')) throw new TypeError('boom');
      return convert(one);
    };
    const [chunk] = await allChunks(records, { convert: throwing });
    assert.deepEqual(
      chunk?.messages.map(({ payload }) => payload),
      ['{}', '{"a":1}'],
    );
    assert.deepEqual(
      chunk.poison.map(({ record: { offset }, reason }) => [offset, reason]),
      [
        [1, 'not_object'],
        [3, 'failed'],
      ],
    );
    assert.equal(chunk.last.offset, 3);
  });

  it('counts messages, payloads and poison values per chunk', async () => {
    const sizes = async (value: string, limits: ChunkLimits) => {
      const records = Array.from({ length: 7 }, (_, offset) => record(offset, value));
      return (await allChunks(records, { convert }, limits)).map(({ recordCount }) => recordCount);
    };
    const payload = JSON.stringify({ x: 'y'.repeat(92) });
    assert.equal(payload.length, 100);
    const bytes = 201;
    assert.deepEqual(await sizes(payload, { messages: 100, bytes }), [3, 3, 1]);
    assert.deepEqual(await sizes('x'.repeat(100), { messages: 100, bytes }), [3, 3, 1]);
    assert.deepEqual(await sizes(payload, { messages: 2, bytes: 10_000 }), [2, 2, 2, 1]);
    assert.deepEqual(await sizes('poison', { messages: 2, bytes: 10_000 }), [2, 2, 2, 1]);
  });

  it('counts each message with its own payload', async () => {
    const row = 'x'.repeat(100);
    const records = Array.from({ length: 4 }, (_, offset) => record(offset, '{}'));
    const destinations = [{ channel: 'row', payload: row }, ...channels('left')];
    const chunks = await allChunks(
      records,
      { convert: () => ({ payload: 'null', destinations }) },
      { messages: 100, bytes: 201 },
    );
    assert.deepEqual(
      chunks.map(({ recordCount }) => recordCount),
      [2, 2],
    );
  });

  it('returns the last record before the first poison record of each chunk', async () => {
    const values = ['{}', '{}', 'poison', '{}', '{}', '{}', '{}', '{}', 'poison', '{}'];
    const records = values.map((value, offset) => record(offset, value));
    const chunks = await allChunks(records, { convert }, { messages: 4, bytes: 10_000 });
    assert.deepEqual(
      chunks.map(({ last, lastBeforePoison }) => [last.offset, lastBeforePoison?.offset]),
      [
        [3, 1],
        [7, undefined],
        [9, undefined],
      ],
    );
  });

  it('tells the first record of each chunk, and decodes a record only when its chunk is taken', async () => {
    const records = Array.from({ length: 6 }, (_, offset) => record(offset, '{}'));
    let decoded = 0;
    const counting = (one: RecordContent) => {
      decoded++;
      return convert(one);
    };
    const chunker = new Chunker(records, { convert: counting });
    assert.equal(chunker.next()?.offset, 0);
    assert.equal((await chunker.take({ messages: 1, bytes: 100 })).recordCount, 1);
    assert.equal(chunker.next()?.offset, 1);
    assert.equal(decoded, 1);
    assert.equal((await chunker.take({ messages: 3, bytes: 100 })).recordCount, 3);
    assert.equal(chunker.next()?.offset, 4);
    assert.equal(decoded, 4);
  });

  it('ends a chunk before a record whose schema is not to be had, and throws then', async () => {
    const unavailable = new SchemaUnavailableError('away', 7);
    const records = ['{}', '{}', 'away', '{}'].map((value, offset) => record(offset, value));
    const waiting = (one: RecordContent) =>
      one.value?.includes('away') ? Promise.reject(unavailable) : Promise.resolve(convert(one));
    const chunker = new Chunker(records, { convert: waiting });
    assert.equal((await chunker.take(CHUNK_LIMITS)).last.offset, 1);
    assert.throws(() => chunker.next(), unavailable);
    await assert.rejects(new Chunker(records.slice(2), { convert: waiting }).take(CHUNK_LIMITS), unavailable);
  });

  it('ends a chunk before a record that needs the last message of a channel only if the chunk has one of it', async () => {
    const finished: number[] = [];
    const pending = ({ value, offset }: RecordContent & { offset?: number }) => {
      const [channel, needed] = JSON.parse(String(value)) as [string, string?];
      const conversion = { payload: '{}', destinations: channels(channel) };
      if (needed === undefined) return conversion;
      return new PendingConversion(needed, () => {
        finished.push(offset!);
        return needed === 'away' ? Promise.reject(unavailable) : Promise.resolve(conversion);
      });
    };
    const unavailable = new BusUnavailableError('away');
    const records = (...values: [string, string?][]) =>
      values.map((value, offset) => record(offset, JSON.stringify(value)));
    const lengths = async (...values: [string, string?][]) =>
      (await allChunks(records(...values), { convert: pending })).map(({ recordCount }) => recordCount);
    assert.deepEqual(await lengths(['a'], ['b', 'b'], ['c', 'b'], ['a', 'd'], ['d', 'd']), [2, 3]);
    assert.deepEqual(finished, [1, 2, 3, 4]);
    assert.deepEqual(await lengths([STATES_OF_KEY], ['b', 'b']), [1, 1]);
    const chunker = new Chunker(records(['a'], ['b', 'away']), { convert: pending });
    assert.equal((await chunker.take(CHUNK_LIMITS)).recordCount, 1);
    assert.throws(() => chunker.next(), unavailable);
  });

  it('keeps every record in order, and ends a chunk at its limits', async () => {
    const values = fc.array(
      fc.oneof(
        fc.constant('not json'),
        fc.integer({ min: 0, max: 300 }).map((n) => `{"x":"${'y'.repeat(n)}"}`),
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        values,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 500 }),
        async (texts, messages, bytes) => {
          const records = texts.map((text, offset) => record(offset, text));
          const twice = (one: RecordContent): Conversion => {
            const conversion = convert(one);
            return conversion.destinations ? { ...conversion, destinations: channels('a', 'b') } : conversion;
          };
          const chunks = await allChunks(records, { convert: twice }, { messages, bytes });
          assert.equal(
            chunks.reduce((sum, { recordCount }) => sum + recordCount, 0),
            records.length,
          );
          assert.deepEqual(
            chunks.flatMap((chunk) =>
              chunk.messages.filter(({ channel }) => channel === 'a').map(({ payload }) => payload),
            ),
            texts.filter((text) => text !== 'not json'),
          );
          assert.deepEqual(
            chunks.flatMap((chunk) => chunk.poison.map((one) => one.record)),
            records.filter(({ value }) => value?.toString() === 'not json'),
          );
          if (records.length > 0) assert.equal(chunks.at(-1)?.last, records.at(-1));
          for (const chunk of chunks.slice(0, -1)) {
            const payloads = chunk.messages.reduce((sum, { payload }) => sum + payload.length, 0);
            const ofPoison = chunk.poison.reduce((sum, { record: { value } }) => sum + value!.length, 0);
            const isFull = chunk.messages.length + chunk.poison.length >= messages || payloads + ofPoison >= bytes;
            assert.ok(isFull, 'a chunk ends at a bound only');
          }
          // One record may pass a bound, and ends the chunk by that: at most its two messages more.
          for (const chunk of chunks) assert.ok(chunk.messages.length + chunk.poison.length <= messages + 1);
          for (const { messages: some } of chunks) {
            assert.ok(some.slice(0, -2).reduce((sum, { payload }) => sum + payload.length, 0) < bytes);
          }
        },
      ),
    );
  });
});
