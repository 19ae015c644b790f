import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Coordinates } from '../../../src/bus/coordinates.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';
import { TcpProxy } from './tcp-proxy.ts';

const TOPIC = 'bids';
const CHANNEL = 'crier:bids{}';

async function startedBus(t: TestContext, url: string): Promise<RedisBus> {
  const bus = new RedisBus({ url, prefix: 'crier:', log: logLines().log });
  t.after(() => bus.close());
  await bus.start();
  return bus;
}

function worker(bus: RedisBus, channel = CHANNEL) {
  return {
    acquire: (position: number, startId?: string) => bus.acquire({ topic: TOPIC, partition: 0, position, startId }),
    publish: (offset: number) =>
      bus.publish([{ channel, payload: `${offset}`, offset, timestamp: 0 }], { topic: TOPIC, partition: 0, offset }),
  };
}

/** The hash in Redis as it is now, and a way to put it back: an older snapshot. */
function ownersOf(t: TestContext, url: string) {
  const client = new Redis(url);
  t.after(() => client.disconnect());
  return {
    client,
    snapshot: () => client.hgetall('crier:owners'),
    restore: async (owners: Record<string, string>) => {
      await client.del('crier:owners');
      if (Object.keys(owners).length > 0) await client.hset('crier:owners', owners);
    },
  };
}

describe('the fence in Redis', () => {
  it('refuses a worker whose partition another has leased (twin: without the fence a client sees old after new)', async (t) => {
    const { url } = await redisServer(t);
    const [zombieBus, successorBus, pod] = [
      await startedBus(t, url),
      await startedBus(t, url),
      await startedBus(t, url),
    ];
    const seen: number[] = [];
    await pod.subscribe(CHANNEL, (payload) => seen.push(Number(payload)));
    const [zombie, successor] = [worker(zombieBus), worker(successorBus)];
    await zombie.acquire(-1);
    await zombie.publish(1);
    await successor.acquire(0);
    await successor.publish(1);
    await successor.publish(2);
    await successor.publish(3);
    await assert.rejects(zombie.publish(2), FencedError);
    await ownersOf(t, url).client.publish(CHANNEL, '2');
    await waitFor('the last one', () => seen.length === 4);
    assert.deepEqual(seen, [1, 2, 3, 2], 'the negative twin: the same message, published past the fence');
  });

  it('lets a fenced worker acquire the lease again, in the same epoch', async (t) => {
    const { url } = await redisServer(t);
    const bus = await startedBus(t, url);
    const epochs: (number | undefined)[] = [];
    await bus.subscribe(CHANNEL, (_payload, coordinates) => epochs.push(coordinates?.epoch));
    const [one, two] = [worker(bus), worker(await startedBus(t, url))];
    await one.acquire(-1);
    await one.publish(0);
    await two.acquire(0);
    await assert.rejects(one.publish(1), FencedError);
    await one.acquire(0);
    await one.publish(1);
    await waitFor('both', () => epochs.length === 2);
    assert.equal(epochs[0], epochs[1]);
  });

  const losses = ['empty', 'with older data'] as const;
  for (const [loss, startId] of losses.flatMap((loss) => [[loss, undefined] as const, [loss, 'one'] as const])) {
    const lease = startId === undefined ? 'lease' : 'lease of the same start id';
    it(`refuses a publish after Redis returns ${loss}, and begins an epoch with the next ${lease}`, async (t) => {
      const { url } = await redisServer(t);
      const { snapshot, restore } = ownersOf(t, url);
      const bus = await startedBus(t, url);
      const seen: (Coordinates | undefined)[] = [];
      await bus.subscribe(CHANNEL, (_payload, coordinates) => seen.push(coordinates));
      const { acquire, publish } = worker(bus);
      await acquire(-1, startId);
      await publish(0);
      const old = await snapshot();
      await publish(1);
      await restore(loss === 'empty' ? {} : old);
      await assert.rejects(publish(2), FencedError);
      await acquire(startId === undefined ? 0 : -1, startId);
      await publish(1);
      await publish(2);
      await waitFor('all', () => seen.length === 3);
      assert.deepEqual(
        seen.map((coordinates) => coordinates?.offset),
        [0, 1, 2],
        'nothing twice, nothing lost',
      );
      assert.ok(seen[2]!.epoch > seen[1]!.epoch);
    });
  }

  it('begins a new epoch also for a new worker, which knows only the committed offsets', async (t) => {
    const { url } = await redisServer(t);
    const { snapshot, restore } = ownersOf(t, url);
    const first = worker(await startedBus(t, url));
    await first.acquire(-1);
    await first.publish(0);
    const old = await snapshot();
    await first.publish(1);
    await restore(old);
    await worker(await startedBus(t, url)).acquire(1);
    assert.ok(Number((await snapshot())[TOPIC]) > Number(old[TOPIC]));
  });

  it('keeps the epoch across worker restarts, and when one of several partitions is leased first', async (t) => {
    const { url } = await redisServer(t);
    const { snapshot } = ownersOf(t, url);
    const first = await startedBus(t, url);
    await first.acquire({ topic: TOPIC, partition: 1, position: 40 });
    const epoch = (await snapshot())[TOPIC];
    await worker(first).acquire(40);
    await worker(first).publish(41);
    await worker(await startedBus(t, url)).acquire(38);
    await worker(await startedBus(t, url)).acquire(41);
    assert.equal((await snapshot())[TOPIC], epoch);
  });

  it('publishes every record of a recreated topic, although the position in the old topic was higher', async (t) => {
    const { url } = await redisServer(t);
    const bus = await startedBus(t, url);
    const seen: string[] = [];
    await bus.subscribe(CHANNEL, (payload) => seen.push(String(payload)));
    const [first, second] = [worker(bus), worker(await startedBus(t, url))];
    await first.acquire(-1, 'one');
    for (let offset = 0; offset < 5; offset++) await first.publish(offset);
    await second.acquire(-1, 'two');
    await second.publish(0);
    await first.acquire(0);
    await first.publish(1);
    await waitFor('all', () => seen.length === 7);
    assert.deepEqual(seen, ['0', '1', '2', '3', '4', '0', '1']);
  });

  it('continues the epoch of a worker that gave no start id', async (t) => {
    const { url } = await redisServer(t);
    const { snapshot, restore } = ownersOf(t, url);
    const epoch = `${Date.now()}`;
    await restore({ [TOPIC]: epoch, [`${TOPIC}/0`]: 'token 7' });
    await worker(await startedBus(t, url)).acquire(7);
    const { [TOPIC]: after, [`${TOPIC}/0`]: owner } = await snapshot();
    assert.equal(after, epoch);
    assert.match(owner!, / 7 $/);
  });

  it('never moves the position back for a publish below it: a retry up to the position reaches nobody', async (t) => {
    const { url } = await redisServer(t);
    const bus = await startedBus(t, url);
    const seen: number[] = [];
    await bus.subscribe(CHANNEL, (payload) => seen.push(Number(payload)));
    const { acquire, publish } = worker(bus);
    await acquire(-1);
    for (const offset of [9, 4, 9, 10]) await publish(offset);
    await waitFor('the last one', () => seen.includes(10));
    assert.deepEqual(seen, [9, 10]);
  });

  it('runs its scripts in a Redis that has lost its script cache', async (t) => {
    const { url } = await redisServer(t);
    const { client } = ownersOf(t, url);
    const { acquire, publish } = worker(await startedBus(t, url));
    await acquire(-1, 'one');
    await publish(0);
    await client.script('FLUSH');
    await publish(1);
    assert.match((await client.hget('crier:owners', `${TOPIC}/0`))!, / 1 one$/);
  });

  it('delivers each message whole and once when links are lost in the middle of a chunk that is then repeated', async (t) => {
    const server = await redisServer(t);
    const proxy = await TcpProxy.start(t, server.port);
    const [bus, pod] = [await startedBus(t, proxy.url), await startedBus(t, server.url)];
    const seen: string[] = [];
    await pod.subscribe(CHANNEL, (payload) => seen.push(String(payload)));
    await bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
    const expected: string[] = [];
    let refusals = 0;
    for (let round = 0; round < 8; round++) {
      const messages = Array.from({ length: 200 }, (_, i) => {
        const offset = round * 200 + i;
        return { channel: CHANNEL, payload: `${offset}`.padEnd(4_000, 'é'), offset, timestamp: 0 };
      });
      expected.push(...messages.map(({ payload }) => payload));
      await waitFor('the links', () => bus.isAvailable);
      const cutting = delay(round % 4).then(() => proxy.cut());
      for (let isAccepted = false; !isAccepted;) {
        try {
          await bus.publish(messages, { topic: TOPIC, partition: 0, offset: messages.at(-1)!.offset });
          isAccepted = true;
        } catch (error) {
          assert.ok(error instanceof BusUnavailableError, String(error));
          refusals++;
          await delay(20);
        }
      }
      await cutting;
    }
    assert.ok(refusals > 0);
    await waitFor('all of them', () => seen.length >= expected.length);
    assert.deepEqual(seen, expected);
  });
});
