import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Decompress } from 'fzstd';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { FetchDecoder } from '../../../../src/kafka/client/fetching/fetch-decoder.ts';
import { InflightBudget } from '../../../../src/kafka/client/fetching/inflight-budget.ts';
import { RecordBatch } from '../../../../src/kafka/client/fetching/record-batch.ts';
import type { FetchedRecord } from '../../../../src/kafka/client/fetching/record-batch.ts';
import { partitionKey } from '../../../../src/kafka/partition-key.ts';
import { encodedBatch, encodedRecord, encodedResponse } from './encoded-batch.ts';

const LIMIT = 1024 * 1024;
const CODECS = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
type Codec = keyof typeof CODECS;

/** How a producer splits what it compresses: into gzip members, xerial blocks, zstd blocks. lz4 has one way. */
interface Split {
  /** Pieces that hold bytes. */
  readonly pieces: number;
  /** Empty pieces, of which each costs the producer a few bytes. */
  readonly empty: number;
}

/** Counts the work of inflating and reading. */
interface Work {
  inflations: number;
  recordsRead: number;
}

/**
 * A batch of any shape takes the work of an ordinary one: its bytes are inflated once, or twice where they had no room at first, and each
 * record is read once, however many blocks, records and parts it has.
 */
export function batchProperty() {
  const cases = fc.record({
    codec: fc.constantFrom(...(Object.keys(CODECS) as Codec[])),
    records: fc.nat({ max: 5000 }),
    /** Bytes of a run of one letter, which compress to nearly nothing. */
    run: fc.oneof(fc.constant(0), fc.nat({ max: LIMIT + 100_000 })),
    split: fc.record({ pieces: fc.integer({ min: 1, max: 60 }), empty: fc.nat({ max: 2000 }) }),
    /** Bytes that another broker's records take of the budget at first. */
    taken: fc.constantFrom(0, LIMIT / 2, LIMIT),
  });
  return fc.asyncProperty(cases, async ({ codec, records, run, split, taken }) => {
    const plain = [
      ...Array.from({ length: records }, (_, offsetDelta) => ({ offsetDelta, value: Buffer.from('{}') })),
      { offsetDelta: records, value: Buffer.alloc(run, 'x') },
    ];
    const inflated = Buffer.concat(plain.map(encodedRecord));
    const data = compressed(codec, inflated, split);
    const batch = encodedBatch(plain, { attributes: CODECS[codec], data });
    const work: Work = { inflations: 0, recordsRead: 0 };
    const read = await counting(work, () => readAll(batch, plain.length, taken));
    const what = JSON.stringify({ codec, records, run, split, taken, compressed: data.length, ...work });
    if (read.some(({ poison }) => poison)) {
      // The bounds that lz4 and zstd are checked by are those of their blocks.
      assert.ok(inflated.length > LIMIT || ['lz4', 'zstd'].includes(codec), what);
      assert.deepEqual([...new Set(read.map(({ poison }) => poison))], ['batch_too_large'], what);
    } else {
      assert.ok(inflated.length <= LIMIT, what);
      assert.ok(
        Buffer.concat(read.map(({ value }) => value!)).equals(Buffer.concat(plain.map(({ value }) => value))),
        what,
      );
      assert.equal(work.recordsRead, plain.length, what);
    }
    assert.ok(work.inflations <= 2, what);
  });
}

/** Fetches as kafkajs does: from the offset after the last record, until the batch is at its end. */
async function readAll(batch: Buffer, count: number, taken: number): Promise<FetchedRecord[]> {
  const budget = new InflightBudget(LIMIT);
  const decoder = new FetchDecoder({ budget, maxInflatedBytes: LIMIT });
  const payload = encodedResponse([{ topic: 'bids', partition: 0, records: batch }]);
  if (taken > 0) {
    budget.reserve('2', 'others', taken);
    // The decoder waits for room.
    setImmediate(() => budget.releaseNode('2'));
  }
  const read: FetchedRecord[] = [];
  for (let parts = 0; read.length < count; parts++) {
    assert.ok(parts <= 3 + count / 1000, `${parts} parts of ${count} records`);
    budget.releaseNode('1');
    const offsets = new Map([[partitionKey('bids', 0), read.length]]);
    const { responses } = await decoder.decode(payload, 11, { node: '1', offsets });
    for (const { partitions } of responses) for (const { messages } of partitions) read.push(...messages);
  }
  return read;
}

/** Runs with the inflaters and the reader of records counted. */
async function counting<Result>(work: Work, run: () => Promise<Result>): Promise<Result> {
  const restores: (() => void)[] = [];
  const watch = <Name extends string>(of: object, name: Name, onCall: (args: unknown[], result: unknown) => void) => {
    const original = Reflect.get(of, name) as (...args: unknown[]) => unknown;
    Reflect.set(of, name, function (this: unknown, ...args: unknown[]) {
      const result = original.apply(this, args);
      onCall(args, result);
      return result;
    });
    restores.push(() => Reflect.set(of, name, original));
  };
  watch(snappy, 'uncompress', () => work.inflations++);
  watch(lz4, 'decompressFrame', () => work.inflations++);
  watch(Decompress.prototype, 'push', ([, isLast]) => (work.inflations += isLast ? 1 : 0));
  watch(RecordBatch.prototype, 'records', ([, , start], result) => {
    const { index } = (start as { index: number } | undefined) ?? { index: 0 };
    work.recordsRead += (result as { next: { index: number } }).next.index - index;
  });
  // Node's gzip, and its zstd since 24.
  const hook = createHook({ init: (_, type) => void (work.inflations += /^(ZLIB|ZSTD)/.test(type) ? 1 : 0) }).enable();
  restores.push(() => hook.disable());
  try {
    return await run();
  } finally {
    for (const restore of restores) restore();
  }
}

function compressed(codec: Codec, data: Buffer, { pieces, empty }: Split): Buffer {
  const size = Math.max(1, Math.ceil(data.length / pieces));
  const parts = Array.from({ length: Math.ceil(data.length / size) }, (_, i) =>
    data.subarray(i * size, (i + 1) * size),
  );
  if (codec === 'lz4') return lz4.compressFrameSync(data, { blockChecksums: empty % 2 === 0 });
  if (codec === 'gzip') return Buffer.concat([...parts.map((part) => gzipSync(part)), ...copies(gzipSync(''), empty)]);
  if (codec === 'snappy') {
    if (pieces === 1 && empty === 0) return snappy.compressSync(data);
    const blocks = [...parts.map((part) => snappy.compressSync(part)), ...copies(Buffer.from([0]), empty)];
    const header = Buffer.from('\x82SNAPPY\0\0\0\0\x01\0\0\0\x01', 'latin1');
    return Buffer.concat([header, ...blocks.flatMap((block) => [bigEndian(block.length), block])]);
  }
  // Raw blocks of at most 128 KiB, and more than fit into one turn of the event loop.
  const raw = parts.flatMap((part) =>
    Array.from({ length: Math.ceil(part.length / 131_072) }, (_, i) => part.subarray(i * 131_072, (i + 1) * 131_072)),
  );
  const blocks = [...raw, ...copies(Buffer.alloc(0), Math.max(5, empty % 400))];
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]),
    ...blocks.flatMap((block, i) => {
      const header = Buffer.alloc(3);
      header.writeUIntLE((block.length << 3) | (i === blocks.length - 1 ? 1 : 0), 0, 3);
      return [header, block];
    }),
  ]);
}

function copies(block: Buffer, count: number): readonly Buffer[] {
  return Array.from({ length: count }, () => block);
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
