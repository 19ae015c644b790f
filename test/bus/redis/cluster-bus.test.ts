import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { startRedisCluster } from '../../../stack/redis-cluster.ts';
import type { RedisCluster } from '../../../stack/redis-cluster.ts';
import { HASH_TAGS, tagIndexOf } from '../../../src/bus/redis/cluster/hash-tags.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { randomName } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { busContract } from '../contract.ts';
import { controlContract } from '../control-contract.ts';
import { logLines } from '../log-lines.ts';
import { plainContract } from '../plain-contract.ts';
import { stateKeyContract } from '../state-key-contract.ts';

describe('over a real Redis Cluster', () => {
  let cluster: RedisCluster;

  before(async () => {
    cluster = await startRedisCluster({ replicas: 0 });
  });
  after(() => cluster.stop());

  controlContract('a cluster', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: cluster.url })));
  plainContract('a cluster', (options) => new RedisBus({ ...options, url: cluster.url }));
  busContract('a cluster', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: cluster.url })));
  stateKeyContract('a cluster', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: cluster.url })));

  it('spreads the channels over all shards, so that each has about a third', async (t) => {
    const bus = new RedisBus({ url: cluster.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const prefix = randomName();
    const channels = Array.from({ length: 900 }, (_, i) => `${prefix}${i}`);
    const seen: string[] = [];
    await Promise.all(channels.map((channel) => bus.subscribe(channel, (payload) => seen.push(String(payload)))));
    const counts = await Promise.all(
      cluster.primaries.map(async ({ url }) => {
        const client = new Redis(url);
        t.after(() => client.disconnect());
        return ((await client.call('PUBSUB', 'SHARDCHANNELS', `*${prefix}*`)) as string[]).length;
      }),
    );
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      900,
    );
    for (const count of counts) assert.ok(count > 200, counts.join());
    await publisherOf(bus).publish(channels.map((channel) => ({ channel, payload: channel })));
    await waitFor('a message for each', () => seen.length === channels.length);
    assert.deepEqual(seen.sort(), channels.sort());
  });

  it('ends the state that a moved record leaves, though the first attempt to publish it was refused by another shard', async (t) => {
    const bus = new RedisBus({ url: cluster.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const topic = randomName('topic');
    const channels = Array.from({ length: 20 }, (_, i) => `${topic}{id="${i}"}`);
    const tagOf = (channel: string) => HASH_TAGS[tagIndexOf(channel)]!;
    const [former, next] = [channels[0]!, channels.find((channel) => tagOf(channel) !== tagOf(channels[0]!))!];
    const history = { entries: 0, bytes: 0, seconds: 0, stateSeconds: 0, keyIndex: `${topic}[id=?]` };
    const publish = (channel: string, offset: number) =>
      bus.publish([{ channel, payload: `"${offset}"`, offset, timestamp: 0, history, keyHash: 'K' }], {
        ...{ topic, partition: 0, offset },
      });
    const states = async () =>
      Promise.all(
        [former, next].map(async (channel) => {
          const { entries } = await bus.history(channel, { from: undefined, maxEntries: 1, maxBytes: 1000 });
          return entries.map(({ payload }) => String(payload))[0];
        }),
      );
    await bus.acquire({ topic, partition: 0, position: -1 });
    await publish(former, 0);
    const index = `${tagOf(former).name}${history.keyIndex}K`;
    const client = new Redis(cluster.primaries[Math.floor((tagOf(former).slot * 3) / 16_384)]!.url);
    t.after(() => client.disconnect());
    assert.equal(await client.get(index), `${tagOf(former).name}${former}`);
    // A key of another type: the script that reads it fails.
    await client.multi().del(index).rpush(index, 'x').exec();
    await assert.rejects(publish(next, 1), /WRONGTYPE/);
    assert.deepEqual(await states(), ['"0"', '"1"'], 'one shard has published it');
    await client.set(index, `${tagOf(former).name}${former}`);
    await publish(next, 1);
    assert.deepEqual(await states(), [undefined, '"1"']);
  });

  it('reports a gap to the listener of control messages after a loss of the link', async (t) => {
    const bus = new RedisBus({ url: cluster.url, prefix: 'crier:', log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    let gaps = 0;
    await bus.control.listen(
      randomName('control'),
      () => undefined,
      () => gaps++,
    );
    for (const { url } of cluster.primaries) {
      const admin = new Redis(url);
      t.after(() => admin.disconnect());
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    }
    await waitFor('the gap', () => gaps === 1);
  });

  it('subscribes a channel again whose slot has left its node and come back', async (t) => {
    const bus = new RedisBus({ url: cluster.url, prefix: 'crier:', log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const channel = `crier:bids{id="${randomName()}"}`;
    const heard: string[] = [];
    let gaps = 0;
    await bus.subscribe(
      channel,
      (payload) => heard.push(String(payload)),
      () => gaps++,
    );
    const { slot } = HASH_TAGS[tagIndexOf(channel)]!;
    const clients = cluster.primaries.map(({ url }) => new Redis(url));
    t.after(() => clients.forEach((client) => client.disconnect()));
    const ids = await Promise.all(clients.map((client) => client.cluster('MYID')));
    const home = Math.floor((slot * 3) / 16_384);
    await clients[home]!.multi([
      ['cluster', 'SETSLOT', slot, 'NODE', ids[(home + 1) % 3]],
      ['cluster', 'SETSLOT', slot, 'NODE', ids[home]],
    ] as unknown[][]).exec();
    await waitFor('the gap', () => gaps === 1);
    const publisher = publisherOf(bus);
    await publisher.publish([{ channel, payload: 'x' }]);
    await waitFor('the message', () => heard.length > 0);
  });

  it('works with the rights that redis.md names, and asks for no others', async (t) => {
    const rights = /`(resetchannels &{[^`]*)`/.exec(await readFile('docs/operate/redis.md', 'utf8'))![1]!.split(' ');
    const admins = cluster.primaries.map(({ url }) => new Redis(url));
    t.after(() => admins.forEach((admin) => admin.disconnect()));
    for (const admin of admins) {
      await admin.call('ACL', 'SETUSER', 'app', 'on', '>pw', ...rights, '&typing.*');
      await admin.call('ACL', 'LOG', 'RESET');
    }
    const prefix = 'crier:';
    const url = cluster.url.replace('//', '//app:pw@');
    const bus = new RedisBus({ url, prefix, log: logLines().log, probeIntervalMs: 50 });
    t.after(() => bus.close());
    await bus.start();
    const heard: string[] = [];
    const names = Array.from({ length: 64 }, (_, i) => `${prefix}a{id="${i}"}`);
    const hear = (payload: Buffer) => void heard.push(String(payload));
    await Promise.all([...names, 'typing.7'].map((name) => bus.subscribe(name, hear)));
    await bus.control.listen(
      'control:a',
      (text) => heard.push(text),
      () => undefined,
    );
    await bus.acquire({ topic: 'a', partition: 0, position: -1 });
    const history = { entries: 9, bytes: 999, seconds: 60, stateSeconds: 0 };
    const messages = names.map((channel, offset) => ({ channel, payload: 'record', offset, timestamp: 0, history }));
    await bus.publish(messages, { topic: 'a', partition: 0, offset: messages.length - 1 });
    assert.equal((await bus.history(names[0]!, { from: '0-1', maxEntries: 9, maxBytes: 999 })).entries.length, 1);
    assert.equal(await bus.agree('secret', 'x'), 'x');
    const request = { holder: 'blue', process: 'one' };
    const lock = await bus.lock('group', { ...request, ttlMs: 60_000 });
    assert.deepEqual(await bus.lockOf('group'), lock);
    await bus.unlock('group', { ...request, since: lock.since });
    assert.equal(await bus.lockOf('group'), undefined);
    await bus.control.send('control:a', 'control');
    await bus.send('typing.7', '"plain"');
    await waitFor('every message', () => heard.length === names.length + 2);
    await waitFor('probes', () => bus.isAvailable);
    for (const admin of admins) assert.deepEqual(await admin.call('ACL', 'LOG'), []);
  });
});
