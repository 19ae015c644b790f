import { Redis } from 'ioredis';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../src/base/log.ts';
import type { RedisServer } from '../../stack/redis-server.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';
import { costOf } from '../processes/cpu-cost.ts';
import { sum } from '../runner/spread.ts';
import type { Figures } from './figures.ts';

const PREFIX = 'memory:';
/** Long enough for all subscriptions of a pod at once. */
const SUBSCRIBE_TIMEOUT_MS = 120_000;
const HISTORY_CHANNELS = 1000;

/** Pods one after the other subscribe to the same channels, each to all of them at once. Returns the first pod and the mean of the others. */
export async function subscriptions(
  url: string,
  shard: RedisServer,
  pods: number,
  channels: number,
): Promise<Figures[]> {
  const names = Array.from({ length: channels }, (_, auction) => auctionChannel(PREFIX, auction));
  const buses: RedisBus[] = [];
  const each: Figures[] = [];
  try {
    for (let pod = 0; pod < pods; pod++) {
      const options = { url, prefix: PREFIX, log: createLog('error'), subscribeTimeoutMs: SUBSCRIBE_TIMEOUT_MS };
      const bus = new RedisBus(options);
      buses.push(bus);
      await bus.start();
      const before = await usedMemory(shard);
      const { durationMs, redisMs, ownMs } = await costOf([shard.process.pid!], async () => {
        await Promise.all(names.map((name) => bus.subscribe(name, () => undefined)));
      });
      each.push({
        'until all are live, s': durationMs / 1000,
        'Redis CPU µs/channel': (redisMs[0]! * 1000) / channels,
        'pod CPU µs/channel': (ownMs * 1000) / channels,
        'Redis bytes/channel': ((await usedMemory(shard)) - before) / channels,
      });
    }
  } finally {
    for (const bus of buses) await bus.close();
  }
  const [first, ...others] = each;
  const mean = (column: string) => sum(others.map((figures) => figures[column]!)) / others.length;
  return [first!, Object.fromEntries(Object.keys(first!).map((column) => [column, mean(column)]))];
}

/** Histories of 1,000 channels with `entries` records of 2 KB each. */
export async function histories(url: string, shard: RedisServer, entries: number): Promise<Figures> {
  const worker = new RedisBus({ url, prefix: `history:${entries}:`, log: createLog('error') });
  try {
    await worker.start();
    await worker.acquire({ topic: AUCTION_TOPIC, partition: 0, position: -1 });
    const before = await usedMemory(shard);
    let offset = 0;
    let bytes = 0;
    for (let auction = 0; auction < HISTORY_CHANNELS; auction++) {
      const channel = auctionChannel(`history:${entries}:`, auction);
      const text = auctionMessages(auction);
      const messages = Array.from({ length: entries }, () => {
        const payload = text(offset);
        bytes += payload.length;
        return { channel, payload, offset: offset++, timestamp: Date.now(), history: HISTORY_DEFAULTS };
      });
      await worker.publish(messages, { topic: AUCTION_TOPIC, partition: 0, offset: offset - 1 });
    }
    return { 'payload bytes': bytes / offset, 'Redis bytes/entry': ((await usedMemory(shard)) - before) / offset };
  } finally {
    await worker.close();
  }
}

export async function usedMemory({ url }: Pick<RedisServer, 'url'>): Promise<number> {
  const client = new Redis(url);
  try {
    return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))![1]);
  } finally {
    client.disconnect();
  }
}
