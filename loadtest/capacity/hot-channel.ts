import { Redis } from 'ioredis';
import { HASH_TAGS, tagIndexOf } from '../../src/bus/redis/cluster/hash-tags.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { printMark } from '../../src/bus/flow/mark.ts';
import { createLog } from '../../src/base/log.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';
import { BarePods, messageBytes } from './bare-pods.ts';
import { costOf } from '../processes/cpu-cost.ts';
import type { Figures } from './figures.ts';

/** All offsets have the same length, so that all messages have. */
const FIRST_OFFSET = 1_000_000_000;
const MARK = {
  ...{ topic: AUCTION_TOPIC, partition: 7, bytes: FIRST_OFFSET, isQuestion: false },
  stream: '0b3c8f9e-5a54-4c1c-9f0e-3d7f6a1c2b4d.7',
};

/**
 * A channel that every pod wants: the worker's bus publishes records of 2 KB, `chunk` at a time, and waits until each pod has them.
 * @param shard the only one of a Redis Cluster
 */
export async function hotChannel(url: string, shard: RedisServer, pods: number, chunk: number, seconds: number) {
  // Redis leaves out offsets that it has accepted, so each trial has a prefix of its own.
  const prefix = `hot:${pods}:${chunk}:`;
  const worker = new RedisBus({ url, prefix, log: createLog('error') });
  const channel = auctionChannel(prefix, 1);
  const name = HASH_TAGS[tagIndexOf(channel)]!.name + channel;
  const payload = auctionMessages(1);
  const spy = new Redis(shard.url);
  let bare: BarePods | undefined;
  let offset = FIRST_OFFSET;
  const publish = async () => {
    const messages = Array.from({ length: chunk }, () => {
      return { channel, payload: payload(offset), offset: offset++, timestamp: Date.now() };
    });
    await worker.publish(messages, { topic: AUCTION_TOPIC, partition: 0, offset: offset - 1 });
  };
  try {
    await worker.start();
    await worker.acquire({ topic: AUCTION_TOPIC, partition: 0, position: FIRST_OFFSET - 1 });
    await spy.ssubscribe(name);
    const seen = new Promise<number>((resolve) => {
      spy.once('smessageBuffer', (_: Buffer, message: Buffer) => resolve(message.length));
    });
    await publish();
    const bytes = messageBytes(name, await seen);
    bare = await BarePods.open(shard.port, name, pods);
    spy.disconnect();
    return await measure(shard, bare, { pods, chunk, bytes, seconds, publish });
  } finally {
    spy.disconnect();
    bare?.close();
    await worker.close();
  }
}

/** A mark of flow control, which every pod receives. */
export async function marks(shard: RedisServer, pods: number, seconds: number) {
  const name = `${HASH_TAGS[0]!.name}flow`;
  const bare = await BarePods.open(shard.port, name, pods);
  const worker = new Redis(shard.url);
  const text = printMark(MARK);
  const publish = async () => void (await worker.spublish(name, text));
  try {
    return await measure(shard, bare, { pods, chunk: 1, bytes: messageBytes(name, text.length), seconds, publish });
  } finally {
    worker.disconnect();
    bare.close();
  }
}

interface Load {
  readonly pods: number;
  readonly chunk: number;
  /** Of one message to one pod. */
  readonly bytes: number;
  readonly seconds: number;
  /** Publishes a chunk. */
  readonly publish: () => Promise<void>;
}

async function measure(
  shard: RedisServer,
  bare: BarePods,
  { pods, chunk, bytes, seconds, publish }: Load,
): Promise<Figures> {
  const round = async () => {
    const arrived = bare.received(pods * chunk * bytes);
    await Promise.all([publish(), arrived]);
  };
  const until = async (end: number) => {
    let chunks = 0;
    for (; performance.now() < end; chunks++) await round();
    return chunks;
  };
  await until(performance.now() + 300);
  let published = 0;
  const { durationMs, redisMs } = await costOf([shard.process.pid!], async () => {
    published = chunk * (await until(performance.now() + seconds * 1000));
  });
  const perRecord = (redisMs[0]! * 1000) / published;
  return {
    'records/s': (published * 1000) / durationMs,
    'messages out/s': (published * pods * 1000) / durationMs,
    'Redis CPU µs/record': perRecord,
    'µs/message out': perRecord / pods,
    'Redis busy %': (redisMs[0]! / durationMs) * 100,
  };
}
