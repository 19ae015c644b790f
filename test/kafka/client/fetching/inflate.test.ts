import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import zlib, { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Decompress } from 'fzstd';
import kafkajs from 'kafkajs';
import type { Kafka } from 'kafkajs';
import lz4 from 'lz4-napi';
import snappy from 'snappy';
import { createTopics } from '../../../../stack/topics.ts';
import { FetchDecoder } from '../../../../src/kafka/client/fetching/fetch-decoder.ts';
import { readFetchResponse } from '../../../../src/kafka/client/fetching/fetch-response.ts';
import { CompressionError, inflate } from '../../../../src/kafka/client/fetching/inflate.ts';
import { InflightBudget } from '../../../../src/kafka/client/fetching/inflight-budget.ts';
import { batchesOf } from '../../../../src/kafka/client/fetching/record-batch.ts';
import { boundFetches } from '../../../../src/kafka/client/patches/bounded-fetch.ts';
import { kafkaBrokers, randomName } from '../../../support/services.ts';
import { waitFor } from '../../../support/wait-for.ts';

const MIB = 1024 * 1024;

/** As the attributes of a batch say it. */
const types = { gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const;
type Name = keyof typeof types;
const names = Object.keys(types) as Name[];

/** snappy-java's framing, by hand. */
function xerial(...chunks: Buffer[]): Buffer {
  return xerialOf(chunks.map((chunk) => snappy.compressSync(chunk)));
}

function xerialOf(compressed: readonly Buffer[]): Buffer {
  const blocks = compressed.flatMap((block) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(block.length);
    return [length, block];
  });
  return Buffer.concat([Buffer.from('\x82SNAPPY\0\0\0\0\x01\0\0\0\x01', 'latin1'), ...blocks]);
}

/** One zstd frame of run-length blocks: 4 bytes for each 128 KiB. */
function zstdRuns(blocks: number, { windowDescriptor = 0x38 } = {}): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowDescriptor]);
  const run = (isLast: boolean) => {
    const block = Buffer.alloc(4, 'x');
    block.writeUIntLE(((128 * 1024) << 3) | (1 << 1) | (isLast ? 1 : 0), 0, 3);
    return block;
  };
  return Buffer.concat([header, ...Array.from({ length: blocks }, (_, i) => run(i === blocks - 1))]);
}

/** Letters of a linear congruential generator. */
function lettersOf(count: number): Buffer {
  let state = 1;
  return Buffer.from(
    Array.from({ length: count }, () => {
      state = (state * 75 + 74) % 65_537;
      return 97 + (state % 26);
    }),
  );
}

/** 850 times these 1,000 letters, by `zstd -3 --check`: seven blocks that refer to the block before, as a single segment. */
const ZSTD_BLOCKS = Buffer.from(
  [
    'KLUv/aRQ+AwAnBMAhv6ZEaA9REnyMT3+ih47/////wsCkwCUAJUA+49/Wb/wc4TZUxjC1WQqIw+DQRY4ClS3jWPgeRP9Usjtb3HnFCtYH56Y+l',
    'aF8cI7cZykvnYnBMJcHUoBeKgLSgU2U70OaopbqzKIJvnb4dG3tVhgLQ5NshsbK05H64T5RMoN8d5Y2ngdcuU84Bor7FSDgcgTTofXScIqxUzn',
    '9jH0QAyTaFt9CXgFLlxV/Lk3Lcodc4lLZbCMXy0aZru6oTWXIT0VqCyoMYxFwt3xxLcyY4RzZ5IWED4gq6TMghElJLrdmIqqpysRzGdRKE2nGZ',
    'vX6lgm/14uCsswuxsgnS9IWIFQCv4mdEYO5oaXNIuyBkvOPTC4MNs368Od6GfB3gieRSgZnPAQB7IRTT7sR9IRxmsIUSLEqGjQBGRfFnhg4ZEY',
    'UOZjBY2ddpXG7WOjhBeDgVewnVNAwPMIMZEQSpMiEIY9l6HMxaxeIacHpJkuhlDkEjnIVmo2pqRjTrET8dA5YexC7QZTxlpC6+Vg0fj+1FSqWi',
    'OAPV0eIVDEU1iEoJnOmsbFEsMeFHa6L+7xshK7cCvfK+WfGF/ktxQyRYqDGGqMKaAnfEIebqtEqKHexBaDrrr5A0CKmvUBqy+BuGoiH0Iai46+',
    'TP4VkXJd3bqeq75nXM8rVtEsJQIcdSJ7yPJt+ZkU8GKPu3gKzqC5srigXip8gvyXrz6q4KiwUm0uxPPzMDN6GAMS0wa6hDNWIkSiBMcrwOdiOf',
    'TzAPeJSxGU8nV7PuNqMklvA4xBRIiWMRHDgqgQ309rqt7b+uyWJfaVTwc06AMoNiKZwRPNAQDoK/jX5yINTAAACGkBAPz/ORACTAAACGsBAPz/',
    'ORACTAAACG4BAPz/ORACTAAACGwBAPz/ORACTAAACGMBAPz/ORACTQAACG0BAEx4HQgBpAyPdw==',
  ].join(''),
  'base64',
);

const inflated = Buffer.from(JSON.stringify({ visibleAuctionStartDateTime: '2024-02-18', bids: 'x'.repeat(300_000) }));
const zeros = Buffer.alloc(64 * MIB);
const letters = Buffer.alloc(850_000, lettersOf(1000));

const inflateOf = (name: Name, data: Buffer, maxInflatedBytes = MIB) =>
  inflate(types[name], data, { maxInflatedBytes });

describe('inflate', () => {
  for (const [title, name, data, expected] of [
    ['gzip', 'gzip', gzipSync(inflated), inflated],
    ['raw snappy', 'snappy', snappy.compressSync(inflated), inflated],
    ['xerial snappy', 'snappy', xerial(inflated, inflated), Buffer.concat([inflated, inflated])],
    ['lz4', 'lz4', lz4.compressFrameSync(inflated), inflated],
    [
      'lz4 with checksums',
      'lz4',
      lz4.compressFrameSync(inflated, { blockChecksums: true, contentChecksum: true }),
      inflated,
    ],
    ['zstd', 'zstd', zstdRuns(3), Buffer.alloc(3 * 128 * 1024, 'x')],
    ['zstd of several turns', 'zstd', ZSTD_BLOCKS, letters],
  ] as [string, Name, Buffer, Buffer][]) {
    it(`inflates ${title}`, async () => assert.ok((await inflateOf(name, data)).equals(expected)));

    it(`rejects ${title} as corrupt if it is truncated or of another format`, async () => {
      for (const bad of [
        data.subarray(0, -7),
        data.subarray(0, 5),
        Buffer.from('plain text, no frame'),
        Buffer.alloc(0),
      ]) {
        await assert.rejects(inflateOf(name, bad), { name: 'CompressionError', code: 'ERR_BATCH_CORRUPT' });
      }
    });
  }

  for (const [title, name, bomb] of [
    ['gzip', 'gzip', gzipSync(zeros)],
    ['raw snappy', 'snappy', snappy.compressSync(zeros)],
    ['raw snappy that only claims 4 GiB', 'snappy', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00])],
    ['xerial snappy of many blocks', 'snappy', xerial(...Array.from({ length: 64 }, () => zeros.subarray(0, 32_768)))],
    ['lz4', 'lz4', lz4.compressFrameSync(zeros)],
    ['zstd', 'zstd', zstdRuns(512)],
  ] as [string, Name, Buffer][]) {
    it(`refuses to inflate a decompression bomb of ${title} (S-76)`, async () => {
      const before = process.memoryUsage().rss;
      await assert.rejects(inflateOf(name, bomb), { name: 'CompressionError', code: 'ERR_BATCH_TOO_LARGE' });
      assert.ok(process.memoryUsage().rss - before < 32 * MIB);
    });
  }

  it('inflates snappy of any number of blocks at once: empty ones cost a producer a few bytes', async (t) => {
    const calls = t.mock.method(snappy, 'uncompress').mock;
    const record = Buffer.from('{"id":"q"}');
    const empty = Buffer.from([0]);
    const blocks = [snappy.compressSync(record), ...Array<Buffer>(100_000).fill(empty), snappy.compressSync(record)];
    assert.ok((await inflateOf('snappy', xerialOf(blocks))).equals(Buffer.concat([record, record])));
    assert.equal(calls.callCount(), 1);
  });

  it('inflates snappy that is split into blocks in any way', async () => {
    const chunks = fc.array(fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.constant(inflated.subarray(0, 70_000))), {
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(chunks, async (parts) => {
        const buffers = parts.map((part) => Buffer.from(part));
        assert.ok((await inflateOf('snappy', xerial(...buffers))).equals(Buffer.concat(buffers)));
      }),
      { numRuns: 50 },
    );
  });

  it('does not allocate the size that a zstd frame only declares', async () => {
    // A content size of 1 GiB in front of one raw block of one byte; then a window of 2 GiB in front of a run.
    for (const frame of [Buffer.from('28b52ffda0ffffff3f09000078', 'hex'), zstdRuns(1, { windowDescriptor: 0xa8 })]) {
      const before = process.memoryUsage().rss;
      await assert.rejects(inflateOf('zstd', frame), CompressionError);
      assert.ok(process.memoryUsage().rss - before < 32 * MIB);
    }
  });

  // Later versions of Node inflate zstd off the event loop.
  if (!('zstdDecompress' in zlib)) {
    it('inflates at most 512 KiB of zstd between two turns of the event loop', async (t) => {
      let turn = 0;
      let timer = setImmediate(function next() {
        turn++;
        timer = setImmediate(next);
      });
      t.after(() => clearImmediate(timer));
      const blocksOfTurns = new Map<number, number>();
      const push = Reflect.get(Decompress.prototype, 'push') as (this: Decompress, ...args: unknown[]) => void;
      t.mock.method(Decompress.prototype, 'push', function (this: Decompress, chunk: Uint8Array, isLast?: boolean) {
        const { ondata } = this;
        this.ondata = (block, isEnd) => {
          if (block.length > 0) blocksOfTurns.set(turn, (blocksOfTurns.get(turn) ?? 0) + 1);
          return ondata.call(this, block, isEnd);
        };
        push.call(this, chunk, isLast);
        this.ondata = ondata;
      });
      assert.equal((await inflateOf('zstd', zstdRuns(510), 64 * MIB)).length, 510 * 128 * 1024);
      const blocks = [...blocksOfTurns.values()];
      assert.equal(
        blocks.reduce((a, b) => a + b),
        510,
      );
      assert.ok(Math.max(...blocks) <= 4 + 1, `${Math.max(...blocks)} blocks of 128 KiB in a turn`);
    });
  }

  it('refuses a zstd frame whose only segment exceeds the window of 8 MiB', async () => {
    const [header, size] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), Buffer.alloc(4)];
    size.writeUInt32LE(8 * MIB + 1);
    const frame = Buffer.concat([header, size, zstdRuns(65).subarray(6)]);
    const refused = inflateOf('zstd', frame, 64 * MIB);
    if ('zstdDecompress' in zlib) assert.ok(await refused.catch(() => true));
    else await assert.rejects(refused, { code: 'ERR_BATCH_CORRUPT', message: /its window is over 8 MiB/ });
  });

  it('never rejects with an error that ends a kafkajs consumer for good', async () => {
    for (const name of names) {
      for (let length = 0; length < 64; length++) {
        const noise = Buffer.from(Array.from({ length }, (_, i) => (i * 167 + length * 31) % 256));
        await inflateOf(name, noise).catch((error: unknown) => assert.ok(error instanceof CompressionError));
      }
    }
  });
});

describe('compressed batches of a real Kafka', () => {
  const cleanUp: (() => Promise<void>)[] = [];
  let brokers: string;
  let kafka: Kafka;

  before(async () => {
    brokers = await kafkaBrokers({ after: (fn) => cleanUp.push(fn) });
    kafka = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  });
  after(async () => {
    for (const fn of cleanUp) await fn();
  });

  /** A topic; the broker compresses with `compression` itself (Java's libraries), or keeps what the producer sent. */
  async function createTopic(compression: string): Promise<string> {
    const topic = randomName('compression');
    const configEntries = [{ name: 'compression.type', value: compression }];
    await createTopics(brokers, [{ topic, numPartitions: 1, configEntries }]);
    return topic;
  }

  /** What a consumer gets, and how many of its batches have this compression. */
  async function consume(t: TestContext, topic: string, name: Name, count: number) {
    const { mock } = t.mock.method(FetchDecoder.prototype, 'decode');
    const values: string[] = [];
    const budget = new InflightBudget(16 * MIB);
    const partitionAssigners = [boundFetches({ budget, maxInflatedBytes: 16 * MIB })];
    const consumer = kafka.consumer({ groupId: randomName('group'), maxWaitTimeInMs: 100, partitionAssigners });
    try {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        eachMessage: ({ message }) => Promise.resolve(void values.push(String(message.value))),
      });
      await waitFor(`${count} records of ${topic}`, () => values.length >= count, 30_000);
    } finally {
      await consumer.disconnect();
    }
    const fetched = mock.calls.flatMap(
      ({ arguments: [payload, version] }) => readFetchResponse(payload, version).responses,
    );
    const batches = fetched.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => [...batchesOf(messages)]));
    return { values, compressed: batches.filter(({ compression }) => compression === types[name]).length };
  }

  const records = Array.from({ length: 500 }, (_, i) => JSON.stringify({ auctionId: i, createdByOrigin: 'MORPHEUS' }));

  for (const name of names) {
    it(`reads records that kcat compressed with ${name}`, async (t) => {
      const topic = await createTopic('producer');
      await produce(brokers, topic, name, records);
      const { values, compressed } = await consume(t, topic, name, records.length);
      assert.deepEqual(values, records);
      assert.ok(compressed > 0);
    });

    it(`reads records that the broker compressed with ${name}`, async (t) => {
      const topic = await createTopic(name);
      await produce(brokers, topic, 'none', records);
      const { values, compressed } = await consume(t, topic, name, records.length);
      assert.deepEqual(values, records);
      assert.ok(compressed > 0);
    });
  }
});

async function produce(brokers: string, topic: string, codec: string, records: string[]): Promise<void> {
  const kcat = spawn('kcat', ['-P', '-b', brokers, '-t', topic, '-z', codec], { stdio: ['pipe', 'ignore', 'inherit'] });
  kcat.stdin.end(records.join('\n'));
  const [code] = (await once(kcat, 'exit')) as [number];
  assert.equal(code, 0);
}
