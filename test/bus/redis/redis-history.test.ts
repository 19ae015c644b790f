import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import type { Coordinates } from '../../../src/bus/coordinates.ts';
import type { HistoryLimits } from '../../../src/bus/history.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

const LIMITS: HistoryLimits = { entries: 100, bytes: 1_000_000, seconds: 60 };
const LONG = 'x'.repeat(100);

/** A channel's two keys in Redis: its stream, and the head of that. */
async function kept(t: TestContext, prefix = `${randomName()}:`) {
  const { url } = await redisServer(t);
  const bus = new RedisBus({ url: url, prefix, log: logLines().log });
  const client = new Redis(url);
  t.after(() => bus.close());
  t.after(() => client.disconnect());
  await bus.start();
  const channel = `${prefix}bids{}`;
  const seen: Coordinates[] = [];
  await bus.subscribe(channel, (_payload, coordinates) => coordinates && seen.push(coordinates));
  await bus.acquire({ topic: 'bids', partition: 0, position: -1 });
  let published = 0;
  return {
    bus,
    client,
    channel,
    head: `${channel}.head`,
    keys: async () => (await client.keys(`${prefix}*`)).sort(),
    owners: `${prefix}owners`,
    /** One publish of so many messages. Resolves with their coordinates when they have arrived. */
    publish: async (messages: number, history = LIMITS): Promise<Coordinates[]> => {
      const place = { timestamp: 0, channel, payload: LONG, history };
      const chunk = Array.from({ length: messages }, () => ({ ...place, offset: published++ }));
      await bus.publish(chunk, { topic: 'bids', partition: 0, offset: published - 1 });
      await waitFor('the messages', () => seen.length === published);
      return seen.slice(-messages);
    },
    /** Offsets of what is kept from an entry on. */
    read: async (from: string | undefined): Promise<number[]> => {
      const { entries } = await bus.history(channel, { from, maxEntries: 1000, maxBytes: 10_000_000 });
      return entries.map(({ coordinates }) => coordinates.offset);
    },
  };
}

describe('the history of a channel in Redis', () => {
  it('has the topic’s epoch, also with a prefix that contains a Redis Cluster hash tag', async (t) => {
    const { bus, channel, publish } = await kept(t, '{crier}:');
    const [first] = await publish(1);
    const { epoch } = await bus.history(channel, { from: first!.entry, maxEntries: 1, maxBytes: 1000 });
    assert.equal(epoch, first!.epoch, 'else nobody could resume');
  });

  it('continues the chain after its head was evicted, and keeps to its limit in bytes', async (t) => {
    const { client, channel, head, publish, read } = await kept(t);
    const [first, last] = await publish(2);
    await client.del(head);
    const [next] = await publish(1);
    assert.equal(next!.previous, last!.entry);
    assert.deepEqual(await read(first!.entry), [0, 1, 2]);
    const limits = { ...LIMITS, bytes: 250 };
    await client.del(head);
    await publish(1, limits);
    assert.equal((await read(next!.entry)).length, 2);
    const [fifth, sixth] = await publish(2, limits);
    assert.deepEqual(await read(fifth!.entry), [4, 5]);
    assert.equal(await client.xlen(channel), 2);
    assert.equal(sixth!.previous, fifth!.entry);
  });

  it('keeps new entries up to its limits after the stream was evicted, and does not hide the loss', async (t) => {
    const { client, channel, publish, read } = await kept(t);
    const limits = { ...LIMITS, bytes: 250 };
    const [, last] = await publish(2, limits);
    await client.del(channel);
    const [third] = await publish(1, limits);
    await publish(1, limits);
    assert.deepEqual(await read(third!.entry), [2, 3]);
    assert.equal(third!.previous, last!.entry);
    await publish(1, limits);
    assert.equal(await client.xlen(channel), 2);
  });

  it('lets the stream and its head expire together', async (t) => {
    const { client, channel, head, keys, owners, publish } = await kept(t);
    await publish(1);
    assert.deepEqual(await keys(), [channel, head, owners].sort());
    const ttls = await client.multi().pttl(channel).pttl(head).exec();
    const [one, other] = ttls!.map(([, ms]) => Number(ms)) as [number, number];
    assert.ok(Math.abs(one - other) <= 1, `${one} and ${other} ms left`);
    await publish(1, { ...LIMITS, seconds: 1 });
    await waitFor('the end', async () => (await keys()).length === 1);
    const [next] = await publish(1);
    assert.equal(next!.previous, undefined);
  });
});
