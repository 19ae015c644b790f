import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import snappy from 'snappy';
import { FetchDecoder } from '../../../../src/kafka/client/fetching/fetch-decoder.ts';
import { partitionKey } from '../../../../src/kafka/partition-key.ts';
import { InflightBudget } from '../../../../src/kafka/client/fetching/inflight-budget.ts';
import type { FetchedRecord } from '../../../../src/kafka/client/fetching/record-batch.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { encodedBatch, encodedMessage, encodedRecord, encodedResponse, kafkajsResponse } from './encoded-batch.ts';
import type { EncodedBatch } from './encoded-batch.ts';

const require = createRequire(import.meta.url);
const KafkajsBatch = require('kafkajs/src/consumer/batch') as new (
  topic: string,
  fetchedOffset: string,
  partition: object,
) => { readonly messages: FetchedRecord[]; lastOffset(): unknown };

/** Fields of records that kafkajs's consumer never reads. */
const OF_KAFKAJS_ONLY = ['batchContext', 'magicByte', 'attributes'];

const KIB = 1024;
const GZIP = 1;
const SNAPPY = 2;

function createDecoder(maxBytes: number, maxInflatedBytes = maxBytes) {
  const budget = new InflightBudget(maxBytes);
  const decoder = new FetchDecoder({ budget, maxInflatedBytes });
  /** Records of each partition. */
  const decode = async (payload: Buffer, { node = '1', offsets = {} } = {}) => {
    budget.releaseNode(node);
    const { responses } = await decoder.decode(payload, 11, { node, offsets: new Map(Object.entries(offsets)) });
    return responses.flatMap(({ partitions }) => partitions.map(({ messages }) => messages));
  };
  return { budget, decoder, decode };
}

function sequence(count: number, bytes: number, options: EncodedBatch = {}): Buffer {
  const value = Buffer.alloc(bytes, 'x');
  return encodedBatch(
    Array.from({ length: count }, (_, offsetDelta) => ({ offsetDelta, value })),
    options,
  );
}

const ofPartitions = (...records: Buffer[]) =>
  encodedResponse(records.map((bytes, partition) => ({ topic: 'bids', partition, records: bytes })));
const offsetsOf = (records: readonly FetchedRecord[] | undefined) => (records ?? []).map(({ offset }) => offset);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('FetchDecoder', () => {
  it('reads the same response as kafkajs', async () => {
    const payload = ofPartitions(
      Buffer.concat([sequence(3, 10), sequence(2, 10, { baseOffset: 3, attributes: GZIP })]),
      Buffer.alloc(0),
    );
    const { decoder } = createDecoder(1024 * KIB);
    const actual = await decoder.decode(payload, 11, { node: '1', offsets: new Map() });
    const isNumber = (key: string) => key === 'offset' || key === 'timestamp';
    const plain = (response: unknown) =>
      JSON.parse(
        JSON.stringify(response, (key, value: unknown) => {
          if (OF_KAFKAJS_ONLY.includes(key)) return undefined;
          return isNumber(key) ? Number(value) : value;
        }),
      ) as object;
    assert.deepEqual(plain(actual), plain(await kafkajsResponse(payload)));
  });

  it('skips whole batches and parts of a batch before the requested offset', async () => {
    const bytes = Buffer.concat([sequence(5, 1), sequence(5, 1, { baseOffset: 5 })]);
    const { decode } = createDecoder(1024 * KIB);
    assert.deepEqual(
      offsetsOf((await decode(ofPartitions(bytes), { offsets: { [partitionKey('bids', 0)]: 7 } }))[0]),
      [7, 8, 9],
    );
  });

  for (const attributes of [0, GZIP]) {
    it(`reads a batch in parts if the budget has no room for all its records (${attributes ? 'gzip' : 'plain'})`, async () => {
      const { decode, budget } = createDecoder(1024 * KIB);
      const payload = ofPartitions(sequence(10_000, 1, { attributes }));
      const seen: number[] = [];
      for (let parts = 1; seen.length < 10_000; parts++) {
        const [records] = await decode(payload, { offsets: { [partitionKey('bids', 0)]: seen.length } });
        assert.ok(budget.room >= 0, `${budget.room} bytes of room`);
        assert.ok(records!.length >= 1000 || seen.length + records!.length === 10_000);
        seen.push(...offsetsOf(records));
        assert.ok(parts <= 5);
      }
      assert.deepEqual(seen, range(0, 10_000));
    });
  }

  it('inflates a batch once, however many parts its records are read in', async (t) => {
    const calls = t.mock.method(snappy, 'uncompress').mock;
    const { decode } = createDecoder(1024 * KIB);
    const batch = (baseOffset: number) => {
      const records = Array.from({ length: 10_000 }, (_, offsetDelta) => ({ offsetDelta, value: Buffer.from('x') }));
      const plain = [...records, { offsetDelta: 10_000, value: Buffer.alloc(800 * KIB, 'x') }];
      const data = snappy.compressSync(Buffer.concat(plain.map(encodedRecord)));
      return encodedBatch(plain, { attributes: SNAPPY, data, baseOffset });
    };
    const payload = ofPartitions(batch(0), batch(5));
    const seen: number[][] = [[], []];
    for (let parts = 0; parts < 50 && seen.some(({ length }) => length < 10_001); parts++) {
      const offsets = { [partitionKey('bids', 0)]: seen[0]!.length, [partitionKey('bids', 1)]: 5 + seen[1]!.length };
      const records = await decode(payload, { offsets });
      records.forEach((one, partition) => seen[partition]!.push(...offsetsOf(one)));
    }
    assert.deepEqual(seen, [range(0, 10_001), range(5, 10_006)]);
    assert.equal(calls.callCount(), 2 + calls.calls.filter(({ error }) => error).length);
    assert.ok(calls.callCount() <= 4);
  });

  for (const attributes of [GZIP, SNAPPY]) {
    it(`fetches a batch again that follows one which fills the budget (${attributes === GZIP ? 'gzip' : 'snappy'})`, async () => {
      const { decode, budget } = createDecoder(1024 * KIB);
      const small = [{ offsetDelta: 0, value: Buffer.from('x') }];
      const data =
        attributes === SNAPPY ? snappy.compressSync(encodedRecord(small[0]!)) : gzipSync(encodedRecord(small[0]!));
      const full = sequence(1, 1024 * KIB - 200, { attributes: GZIP });
      const payload = ofPartitions(Buffer.concat([full, encodedBatch(small, { attributes, data, baseOffset: 1 })]));
      assert.deepEqual(offsetsOf((await decode(payload))[0]), [0]);
      assert.ok(budget.room < 0);
      const [records] = await decode(payload, { offsets: { [partitionKey('bids', 0)]: 1 } });
      assert.deepEqual(
        records!.map(({ offset, poison }) => [offset, poison]),
        [[1, undefined]],
      );
    });
  }

  it('forgets a batch of which a later part is corrupt, and goes on at once', async (t) => {
    const { decode, budget } = createDecoder(1024 * KIB);
    const waits = t.mock.method(budget, 'released').mock;
    const records = Array.from({ length: 3000 }, (_, offsetDelta) => ({ offsetDelta, value: Buffer.alloc(200, 'x') }));
    const plain = Buffer.concat(records.map(encodedRecord));
    const data = gzipSync(Buffer.concat([plain.subarray(0, 400_000), Buffer.alloc(plain.length - 400_000, 0xff)]));
    const broken = encodedBatch(records, { attributes: GZIP, data });
    const next = sequence(1, 500 * KIB, { attributes: GZIP, baseOffset: 3000 });
    const seen: FetchedRecord[] = [];
    for (let parts = 0; seen.at(-1)?.offset !== 3000; parts++) {
      assert.ok(parts < 10);
      const from = seen.length === 0 ? 0 : seen.at(-1)!.offset + 1;
      seen.push(
        ...(
          await decode(ofPartitions(Buffer.concat([broken, next])), { offsets: { [partitionKey('bids', 0)]: from } })
        )[0]!,
      );
    }
    assert.deepEqual(offsetsOf(seen), range(0, 3001));
    assert.ok(seen.some(({ poison }) => poison === 'batch_corrupt'));
    assert.equal(waits.callCount(), 0);
  });

  it('reads a batch that does not fit beside one that nobody fetches any more', async () => {
    const { decode } = createDecoder(1024 * KIB);
    const batch = sequence(10_000, 60, { attributes: GZIP });
    const first = await decode(ofPartitions(batch), { node: '1' });
    assert.ok(first[0]!.length < 10_000);
    const other = () =>
      decode(ofPartitions(Buffer.alloc(0), sequence(1, 700 * KIB, { attributes: GZIP })), { node: '1' });
    assert.deepEqual(offsetsOf((await other())[1]), []);
    await waitFor('the other batch', async () => (await other())[1]!.length === 1);
  });

  it('omits the first batch without room in the budget, and all batches after it', async () => {
    const { decode, budget } = createDecoder(512 * KIB);
    const small = sequence(1, 10);
    const large = (baseOffset: number) => sequence(1, 200 * KIB, { attributes: GZIP, baseOffset });
    const payload = ofPartitions(Buffer.concat([large(0), large(1), large(2), large(3)]), small);
    const [first, second] = await decode(payload);
    assert.deepEqual(offsetsOf(first), [0, 1]);
    assert.deepEqual(offsetsOf(second), []);
    assert.ok(budget.room >= 0);
    const [rest] = await decode(payload, { offsets: { [partitionKey('bids', 0)]: 2 } });
    assert.deepEqual(offsetsOf(rest), [2, 3]);
  });

  it('delays a response of another broker until the budget has room', async () => {
    const { decode, budget } = createDecoder(512 * KIB);
    await decode(ofPartitions(sequence(1, 400 * KIB)), { node: '1' });
    let isDone = false;
    const second = decode(ofPartitions(sequence(1, 300 * KIB, { attributes: GZIP })), { node: '2' });
    void second.then(() => (isDone = true));
    await delay(50);
    assert.equal(isDone, false);
    budget.releasePartition(partitionKey('bids', 0));
    assert.deepEqual(offsetsOf((await second)[0]), [0]);
  });

  it('sees room that comes while a batch is inflated', async () => {
    const { decode, budget } = createDecoder(512 * KIB);
    await decode(ofPartitions(sequence(1, 400 * KIB)), { node: '1' });
    const second = decode(ofPartitions(sequence(1, 300 * KIB, { attributes: GZIP })), { node: '2' });
    // What is inflated is ready in a later turn of the event loop.
    for (let i = 0; i < 50; i++) await Promise.resolve();
    budget.releasePartition(partitionKey('bids', 0));
    assert.deepEqual(offsetsOf((await second)[0]), [0]);
  });

  it('does not wait for room that records of the same response take', async () => {
    const { decode, budget } = createDecoder(512 * KIB);
    const one = sequence(1, 300 * KIB, { attributes: GZIP });
    assert.deepEqual(
      (await decode(ofPartitions(one, one))).map(({ length }) => length),
      [1, 0],
    );
    assert.equal(budget.has('1'), true);
  });

  for (const [reason, batch] of [
    ['batch_too_large', sequence(3, 300 * KIB, { attributes: GZIP })],
    ['batch_corrupt', sequence(3, 1, { attributes: GZIP, data: Buffer.from('no gzip') })],
    ['batch_corrupt', sequence(3, 1, { attributes: 7 })],
    ['batch_corrupt', sequence(3, 1, { data: Buffer.alloc(20, 0xff) })],
  ] as const) {
    it(`returns placeholders with a reason for a batch that it cannot decode: ${reason}`, async () => {
      const { decode } = createDecoder(512 * KIB);
      const [records] = await decode(ofPartitions(Buffer.concat([batch, sequence(1, 1, { baseOffset: 3 })])));
      assert.deepEqual(
        records!.map(({ offset, poison }) => [offset, poison]),
        [
          [0, reason],
          [1, reason],
          [2, reason],
          [3, undefined],
        ],
      );
    });
  }

  it('returns placeholders in parts for an unreadable batch with a huge record count', async () => {
    const { decode } = createDecoder(16 * 1024 * KIB);
    const data = Buffer.from('no gzip');
    const payload = ofPartitions(
      encodedBatch([], { data, attributes: GZIP, recordCount: 2 ** 30, lastOffsetDelta: 24_999 }),
    );
    const seen: number[] = [];
    for (let parts = 0; parts < 3; parts++) {
      seen.push(...offsetsOf((await decode(payload, { offsets: { [partitionKey('bids', 0)]: seen.length } }))[0]));
    }
    assert.deepEqual(seen, range(0, 25_000));
  });

  describe('with aborted transactions', () => {
    const TRANSACTIONAL = 0x10;
    const CONTROL = 0x20;
    const data = (baseOffset: number, producerId: number, key: Buffer | null = null) =>
      encodedBatch([{ offsetDelta: 0, key }], { baseOffset, producerId, attributes: TRANSACTIONAL });
    const marker = (baseOffset: number, producerId: number, type: 0 | 1) =>
      encodedBatch([{ offsetDelta: 0, key: Buffer.from([0, 0, 0, type]) }], {
        baseOffset,
        producerId,
        attributes: TRANSACTIONAL | CONTROL,
      });
    /** By their ends, as a broker sends them. */
    const aborted = [
      { producerId: 2, firstOffset: 1 },
      { producerId: 1, firstOffset: 0 },
    ];
    /** Offsets of the records that kafkajs hands on. */
    async function delivered(batches: readonly Buffer[], from: number): Promise<number[]> {
      const { decoder } = createDecoder(1024 * KIB);
      const records = Buffer.concat(batches);
      const payload = encodedResponse([{ topic: 'bids', partition: 0, records, aborted }]);
      const offsets = new Map([[partitionKey('bids', 0), from]]);
      const { responses } = await decoder.decode(payload, 11, { node: '1', offsets });
      const batch = new KafkajsBatch('bids', `${from}`, responses[0]!.partitions[0]!);
      assert.equal(batch.lastOffset(), from + batches.length - 1);
      return offsetsOf(batch.messages);
    }

    it('omits aborted records if several transactions began before the fetch', async () => {
      const batches = [
        data(100, 2),
        data(101, 1),
        marker(102, 2, 0),
        marker(103, 1, 0),
        data(104, 1),
        marker(105, 1, 1),
      ];
      assert.deepEqual(await delivered(batches, 100), [104]);
    });

    it('returns committed records after a marker at the start of the fetch', async () => {
      const batches = [marker(100, 2, 0), marker(101, 1, 0), data(102, 2), data(103, 2), marker(104, 2, 1)];
      assert.deepEqual(await delivered(batches, 100), [102, 103]);
    });

    it('omits aborted records if the transaction that began first ends last', async () => {
      const batches = [data(0, 1), data(1, 2), marker(2, 2, 0), marker(3, 1, 0), data(4, 2), marker(5, 2, 1)];
      assert.deepEqual(await delivered(batches, 0), [4]);
    });

    it('does not mistake a record for a marker because of its key', async () => {
      const batches = [data(100, 1, Buffer.alloc(4)), data(101, 1), marker(102, 1, 0)];
      assert.deepEqual(await delivered(batches, 100), []);
    });
  });

  it('ends a batch whose last records were compacted with a control record, which kafkajs skips', async () => {
    const { decode } = createDecoder(512 * KIB);
    const [records] = await decode(ofPartitions(sequence(2, 1, { lastOffsetDelta: 9 })));
    assert.deepEqual(
      records!.map(({ offset, isControlRecord }) => [offset, isControlRecord]),
      [
        [0, false],
        [1, false],
        [9, true],
      ],
    );
  });
});

describe('FetchDecoder with records of before Kafka 0.11', () => {
  const value = Buffer.from('value');
  const reasonsOf = (records: readonly FetchedRecord[] | undefined) =>
    records!.map(({ offset, poison }) => [offset, poison]);
  const old = (...offsets: number[]) => offsets.map((offset) => [offset, 'unsupported_record_format']);

  for (const magic of [0, 1] as const) {
    it(`returns a placeholder for each, and for each compressed set of them: version ${magic}`, async () => {
      const { decode } = createDecoder(512 * KIB);
      const set = encodedMessage({ offset: 7, magic, attributes: GZIP, value: Buffer.alloc(20) });
      const withoutFields = encodedMessage({ offset: 8, magic, value }).subarray(0, 20);
      withoutFields.writeInt32BE(8, 8);
      const cutOff = encodedMessage({ offset: 9, magic, value }).subarray(0, 25);
      const entries = [encodedMessage({ offset: 4, magic, value }), set, withoutFields, cutOff];
      const [records] = await decode(ofPartitions(Buffer.concat(entries)));
      assert.deepEqual(reasonsOf(records), old(4, 7, 8));
    });
  }

  it('skips those before the requested offset, and reads the record batches after them with the next fetch', async () => {
    const payload = Buffer.concat([3, 4, 5].map((offset) => encodedMessage({ offset, value })));
    const batch = sequence(2, 1, { baseOffset: 6 });
    const { decode } = createDecoder(512 * KIB);
    const from = (bytes: Buffer, offset: number) =>
      decode(ofPartitions(bytes), { offsets: { [partitionKey('bids', 0)]: offset } });
    assert.deepEqual(reasonsOf((await from(Buffer.concat([payload, batch]), 4))[0]), old(4, 5));
    assert.deepEqual(offsetsOf((await from(batch, 6))[0]), [6, 7]);
    assert.deepEqual(offsetsOf((await from(Buffer.concat([batch, payload]), 6))[0]), [6, 7]);
  });

  it('returns at most 10,000 placeholders of a partition at once, and counts them in the budget', async () => {
    const bytes = Buffer.concat(range(0, 12_000).map((offset) => encodedMessage({ offset, value: Buffer.alloc(0) })));
    const { decode, budget } = createDecoder(8192 * KIB);
    const { room } = budget;
    const [records] = await decode(ofPartitions(bytes));
    assert.equal(records!.length, 10_000);
    assert.ok(budget.room < room);
  });
});
