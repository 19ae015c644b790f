import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CorruptBatchError, RecordBatch, batchesOf } from '../../../../src/kafka/client/fetching/record-batch.ts';
import { encodedBatch, kafkajsRecords } from './encoded-batch.ts';
import type { EncodedRecord } from './encoded-batch.ts';

type KafkajsRecord = Record<'offset' | 'timestamp', string> &
  Record<'key' | 'value' | 'headers' | 'isControlRecord', unknown>;

const ALL = { from: 0, count: Infinity };

function decoded(batch: Buffer, range = ALL) {
  const one = new RecordBatch(batch);
  return one.records(one.data, range).records;
}

const offsetsOf = (records: readonly { offset: number }[]) => records.map(({ offset }) => offset);
const numbered = (count: number): EncodedRecord[] =>
  Array.from({ length: count }, (_, offsetDelta) => ({ offsetDelta }));

describe('RecordBatch', () => {
  it('reads the same records as kafkajs', async () => {
    const bytes = fc.option(fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)));
    // Of names that objects inherit kafkajs makes something else.
    const name = fc.string().filter((text) => !(text in {}));
    const headers = fc.array(fc.tuple(name, fc.string()), { maxLength: 5 });
    const record = fc.record({
      gap: fc.integer({ min: 0, max: 1000 }),
      timestampDelta: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
      key: bytes,
      value: bytes,
      headers,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 2 ** 50 }),
        fc.constantFrom(0, 0x08, 0x10, 0x20, 0x38),
        async (parts, baseOffset, attributes) => {
          let offsetDelta = -1;
          const records = parts.map(({ gap, headers: entries, ...rest }) => {
            const lists: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
            for (const [key, value] of entries) (lists[key] ??= []).push(value);
            return { ...rest, offsetDelta: (offsetDelta += gap + 1), headers: lists };
          });
          const batch = encodedBatch(records, { baseOffset, attributes });
          const expected = (await kafkajsRecords(batch)) as KafkajsRecord[];
          const actual = decoded(batch);
          assert.equal(actual.length, expected.length);
          for (const [i, one] of actual.entries()) {
            const { offset, timestamp, key, value, headers, isControlRecord } = expected[i]!;
            const numbers = { offset: Number(offset), timestamp: Number(timestamp) };
            const read = { key, value, headers, isControlRecord, ...numbers };
            assert.deepEqual({ ...one, headers: { ...one.headers } }, read);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps headers named like inherited properties', () => {
    const headers = JSON.parse('{"__proto__":["a","b"],"constructor":"c"}') as Record<string, string[] | string>;
    const [record] = decoded(encodedBatch([{ offsetDelta: 0, headers }]));
    const entries = Object.entries(record!.headers).map(([name, value]) => [name, String(value)]);
    assert.deepEqual(entries, [
      ['__proto__', 'a,b'],
      ['constructor', 'c'],
    ]);
  });

  it('reads the records of a range', () => {
    const batch = encodedBatch(numbered(10), { baseOffset: 100 });
    assert.deepEqual(offsetsOf(decoded(batch, { from: 103, count: 4 })), [103, 104, 105, 106]);
    assert.deepEqual(offsetsOf(decoded(batch, { from: 108, count: 4 })), [108, 109]);
  });

  it('throws CorruptBatchError, and no other error, for an unreadable batch', () => {
    const whole = encodedBatch([
      { offsetDelta: 0, key: Buffer.from('key'), value: Buffer.from('value'), headers: { a: 'b' } },
      { offsetDelta: 1, value: Buffer.alloc(200, 'x') },
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 61, max: whole.length - 1 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const batch = Buffer.from(whole);
        batch[at] = byte;
        for (const one of [batch, batch.subarray(0, at)]) {
          try {
            decoded(one);
          } catch (error) {
            assert.ok(error instanceof CorruptBatchError);
          }
        }
      }),
    );
    assert.throws(() => decoded(whole.subarray(0, -1)), CorruptBatchError);
    assert.throws(
      () => decoded(encodedBatch([], { data: Buffer.alloc(100, 0xff), recordCount: 1 })),
      CorruptBatchError,
    );
  });

  it('returns one placeholder per record, the last one at the last offset', () => {
    const batch = new RecordBatch(encodedBatch([], { baseOffset: 100, recordCount: 4, lastOffsetDelta: 9 }));
    const placeholders = (from: number, count = Infinity) => batch.placeholders('batch_corrupt', { from, count });
    assert.deepEqual(offsetsOf(placeholders(0)), [100, 101, 102, 109]);
    assert.deepEqual(offsetsOf(placeholders(101, 2)), [101, 102]);
    assert.deepEqual(offsetsOf(placeholders(105)), [109]);
    assert.ok(placeholders(0).every(({ key, value, poison }) => key === null && value === null && poison));
  });

  it('returns at most one placeholder per offset', () => {
    for (const recordCount of [2 ** 31 - 1, 0, -1]) {
      const batch = new RecordBatch(encodedBatch([], { baseOffset: 100, recordCount, lastOffsetDelta: 2 }));
      assert.equal(batch.placeholders('batch_corrupt', ALL).at(-1)?.offset, 102);
      assert.ok(batch.placeholders('batch_corrupt', ALL).length <= 3);
    }
  });
});

describe('batchesOf', () => {
  const bytes = Buffer.concat([
    encodedBatch(numbered(2)),
    encodedBatch(numbered(3), { baseOffset: 2 }),
    encodedBatch(numbered(1), { baseOffset: 5 }),
  ]);

  it('omits a truncated batch', () => {
    assert.deepEqual(
      [...batchesOf(bytes)].map(({ baseOffset }) => baseOffset),
      [0, 2, 5],
    );
    for (const cut of [1, 7, 60, 68]) {
      assert.deepEqual(
        [...batchesOf(bytes.subarray(0, -cut))].map(({ baseOffset }) => baseOffset),
        [0, 2],
      );
    }
  });

  it('stops before a batch of another format', () => {
    const mixed = Buffer.from(bytes);
    mixed[encodedBatch(numbered(2)).length + 16] = 1;
    assert.deepEqual(
      [...batchesOf(mixed)].map(({ baseOffset }) => baseOffset),
      [0],
    );
  });
});
