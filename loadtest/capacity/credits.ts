import { once } from 'node:events';
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { HASH_TAGS, tagIndexOf } from '../../src/bus/redis/cluster/hash-tags.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { parseMark, printCredit } from '../../src/bus/flow/mark.ts';
import { createLog } from '../../src/base/log.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';
import { costOf } from '../processes/cpu-cost.ts';
import type { Figures } from './figures.ts';

const PREFIX = 'credits:';
const PATIENCE_MS = 5000;

/** The answers of all pods to a mark: each sends a credit to the worker's bus. One connection sends the credits of all of them. */
export async function credits(url: string, shard: RedisServer, pods: number, seconds: number): Promise<Figures> {
  const worker = new RedisBus({ url, prefix: PREFIX, log: createLog('error'), flowPatienceMs: PATIENCE_MS });
  const socket = connect(shard.port, '127.0.0.1').resume();
  try {
    await Promise.all([worker.start(), once(socket, 'connect')]);
    const channel = auctionChannel(PREFIX, 1);
    const tag = HASH_TAGS[tagIndexOf(channel)]!.name;
    const stream = await streamOf(worker, shard, channel, tag);
    const answers = Buffer.from(
      Array.from({ length: pods }, (_, pod) =>
        command(
          'SPUBLISH',
          `${tag}${PREFIX}flow:${stream.split('.', 1)[0]!}`,
          printCredit({ stream, gateway: `crier-gateway-${pod}`, served: 1_000_000, bytes: 9_000_000 }),
        ),
      ).join(''),
    );
    let received = 0;
    let onRound = () => {};
    const { sender } = worker;
    const onCredit = sender.onCredit.bind(sender);
    sender.onCredit = (credit) => {
      onCredit(credit);
      if (++received % pods === 0) onRound();
    };
    const until = async (end: number) => {
      while (performance.now() < end) {
        const arrived = new Promise<void>((resolve) => (onRound = resolve));
        socket.write(answers);
        await arrived;
      }
    };
    await until(performance.now() + 300);
    received = 0;
    const { durationMs, redisMs, ownMs } = await costOf([shard.process.pid!], () =>
      until(performance.now() + seconds * 1000),
    );
    return {
      'credits/s': (received * 1000) / durationMs,
      'Redis CPU µs/credit': (redisMs[0]! * 1000) / received,
      'worker CPU µs/credit': (ownMs * 1000) / received,
    };
  } finally {
    socket.destroy();
    await worker.close();
  }
}

/** The name of the stream of a lease: of the mark that follows its first large publish, if somebody receives that. */
async function streamOf(worker: RedisBus, shard: RedisServer, channel: string, tag: string): Promise<string> {
  const spy = new Redis(shard.url);
  const markChannel = `${tag}${PREFIX}flow`;
  try {
    await spy.ssubscribe(markChannel, tag + channel);
    const marked = new Promise<string>((resolve) => {
      spy.on('smessage', (name: string, text: string) => name === markChannel && resolve(text));
    });
    await worker.acquire({ topic: AUCTION_TOPIC, partition: 0, position: -1 });
    const payload = auctionMessages(1);
    const messages = Array.from({ length: 50 }, (_, offset) => {
      return { channel, payload: payload(offset), offset, timestamp: Date.now() };
    });
    await worker.publish(messages, { topic: AUCTION_TOPIC, partition: 0, offset: 49 });
    return parseMark(await marked)!.stream;
  } finally {
    spy.disconnect();
  }
}

function command(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}
