import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import type { SetupError } from '../../src/base/errors.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { GroupLock } from '../../src/server/group-lock.ts';
import { WorkerWatch } from '../../src/server/worker-watch.ts';
import { orderRecord, ordersSettings } from '../end-to-end/orders.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { PodServer, startPod, startRefusal } from '../end-to-end/pod-server.ts';
import { readableLog, withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';

describe('the lock of a CHANNEL_PREFIX for a consumer group', () => {
  /** Makes claims of this Redis; each is a worker's. */
  async function withRedis(t: TestContext) {
    const { url } = await redisServer(t);
    const prefix = `${randomName()}:`;
    const admin = new Redis(url).on('error', () => undefined);
    t.after(() => admin.disconnect());
    const bus = new RedisBus({ url, prefix, log: readableLog().log });
    await bus.start();
    t.after(() => bus.close());
    const refused: string[] = [];
    const workerOf = (group: string) => {
      const config = { CHANNEL_PREFIX: prefix, names: ENVIRONMENT_NAMES };
      const onRefused = (error: SetupError) => refused.push(`${group}: ${error.message}`);
      const lock = new GroupLock({ bus, config, onRefused });
      t.after(() => lock.close());
      return { start: () => lock.start(group), take: () => lock.take(), close: () => lock.close() };
    };
    return { admin, bus, key: `${prefix}group`, workerOf, refused };
  }

  it('is shared by the workers of one group, and refuses those of another at their start', async (t) => {
    const { workerOf, refused } = await withRedis(t);
    const [first, second, other] = [workerOf('blue'), workerOf('blue'), workerOf('green')];
    await Promise.all([first.start(), second.start()]);
    await assert.rejects(
      other.start(),
      /^SetupError: KAFKA_GROUP_ID: the group "green" may not publish with CHANNEL_PREFIX="\S+:", because the group "blue" does so on this Redis, .* set KAFKA_GROUP_ID=blue, or stop the workers of "blue"; after a crash their lock expires within 30 s$/,
    );
    await first.take();
    assert.deepEqual(refused, []);
  });

  it('is released when the last worker ends, and not before', async (t) => {
    const { admin, workerOf } = await withRedis(t);
    const [first, second, other] = [workerOf('blue'), workerOf('blue'), workerOf('green')];
    await Promise.all([first.start(), second.start()]);
    await first.close();
    await assert.rejects(workerOf('green').start(), /the group "blue" does so/);
    await second.close();
    await Promise.all([first.close(), second.close()]);
    assert.deepEqual(await admin.keys('*'), []);
    await other.start();
    await assert.rejects(workerOf('blue').start(), /the group "green" does so/);
  });

  it('expires after a crash, also if the other workers have ended', async (t) => {
    const { admin, key, workerOf } = await withRedis(t);
    const [crashed, other] = [workerOf('blue'), workerOf('blue')];
    await crashed.start();
    await admin.pexpire(key, 25_000);
    await other.start();
    await other.close();
    const left = await admin.pttl(key);
    assert.ok(left > 25_000 && left <= 30_000, `${left}`);
    await assert.rejects(workerOf('green').start(), /the group "blue" does so/);
    await Promise.all([admin.pexpire(key, 1), admin.pexpire(`${key}:processes`, 1)]);
    await waitFor('the expiry', async () => (await admin.exists(key)) === 0);
    await workerOf('green').start();
  });

  it('is kept for a worker that restarts beside others', async (t) => {
    const { workerOf } = await withRedis(t);
    const [former, stays] = [workerOf('blue'), workerOf('blue')];
    await Promise.all([former.start(), stays.start()]);
    await former.close();
    await workerOf('blue').start();
    await stays.close();
    await assert.rejects(workerOf('green').start(), /the group "blue" does so/);
  });

  it('is not released for another group that has it', async (t) => {
    const { admin, key, workerOf } = await withRedis(t);
    const [blue, green] = [workerOf('blue'), workerOf('green')];
    await blue.start();
    await admin.flushall();
    await green.start();
    await blue.close();
    assert.match((await admin.get(key))!, /^\d+ green$/);
    await green.take();
  });

  it('is not taken again by a worker that has given it up', async (t) => {
    const { admin, workerOf } = await withRedis(t);
    const blue = workerOf('blue');
    await blue.start();
    const taking = blue.take();
    await blue.close();
    await taking;
    await assert.rejects(blue.take(), /^BusUnavailableError: the worker has given up/);
    assert.deepEqual(await admin.keys('*'), []);
  });

  it('tells a gateway whether workers publish for it', async (t) => {
    const { bus, workerOf, admin } = await withRedis(t);
    const { log, lines } = readableLog();
    const metrics = new Metrics();
    const names = ENVIRONMENT_NAMES;
    const watch = new WorkerWatch({ bus, log, names, metrics, messages: () => 0, intervalMs: 20 });
    t.after(() => watch.close());
    const value = async () => /^crier_gateway_without_workers (.)$/m.exec(await metrics.registry.metrics())?.[1];
    watch.start();
    await waitFor('the lack of workers', () => watch.isAlone);
    assert.equal(await value(), '1');
    assert.match(lines.join(''), /no worker publishes for this gateway: .* the same REDIS_URL and CHANNEL_PREFIX/);
    await workerOf('blue').start();
    await waitFor('a worker', () => watch.group === 'blue');
    assert.equal(await value(), '0');
    assert.equal(lines.length, 2);
    await admin.flushall();
    await waitFor('the lack of workers', () => watch.isAlone);
    assert.equal(watch.group, undefined);
  });

  it('warns no gateway that receives messages of workers without a lock, whose version knows none', async (t) => {
    const { bus } = await withRedis(t);
    const { log, lines } = readableLog();
    let looks = 0;
    let messages = 0;
    let hasWorkers = true;
    const lockOf = (name: string) => {
      looks++;
      if (hasWorkers) messages++;
      return bus.lockOf(name);
    };
    const options = { bus: { lockOf }, log, metrics: new Metrics(), messages: () => messages, intervalMs: 20 };
    const watch = new WorkerWatch({ ...options, names: ENVIRONMENT_NAMES });
    t.after(() => watch.close());
    watch.start();
    await waitFor('ten looks', () => looks >= 10);
    assert.deepEqual(lines, []);
    hasWorkers = false;
    await waitFor('the lack of workers', () => watch.isAlone);
    hasWorkers = true;
    await waitFor('a message', () => !watch.isAlone);
  });

  it('follows a loss of the data of Redis: the group that locked first keeps it, and the other one is told', async (t) => {
    const { admin, bus, key, workerOf, refused } = await withRedis(t);
    const blue = workerOf('blue');
    await blue.start();
    const { since } = (await bus.lockOf('group'))!;
    await admin.flushall();
    // Claims of one millisecond are equally old.
    await waitFor('the next millisecond of Redis', async () => (await millisecondOf(admin)) > since);
    const green = workerOf('green');
    await green.start();
    await blue.take();
    assert.match((await admin.get(key))!, /^\d+ blue$/);
    await assert.rejects(green.take(), /the group "blue" does so/);
    await green.take().catch(() => undefined);
    await blue.take();
    assert.equal(refused.length, 1);
    assert.match(refused[0]!, /^green: /);
  });
});

/** Since 1970, by the clock of a Redis server. */
async function millisecondOf(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

describe('two consumer groups with one CHANNEL_PREFIX on one Redis', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('leave the workers of the first alone, and end those of the second at their start with both names', async (t) => {
    const redis = await redisServer(t);
    const topic = await outside.createTopic();
    const settings = await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl: redis.url });
    const worker = { ...settings, ROLE: 'worker' };
    const blue = await startPod(t, worker);
    const group = settings.KAFKA_GROUP_ID;
    const refusal = await startRefusal(t, { ...worker, KAFKA_GROUP_ID: `${group}-green` });
    assert.match(refusal, new RegExp(`the group "${group}-green" may not publish .* the group "${group}" does so`));
    await blue.reports({ kafka: 'connected' });
    assert.doesNotMatch(blue.log, /fenced|FencedError/);
  });

  it('follow each other at once where the first has ended', async (t) => {
    const redis = await redisServer(t);
    const graphOf = async () => {
      const topic = await outside.createTopic();
      return { topic, settings: await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl: redis.url }) };
    };
    const [blue, green] = [await graphOf(), await graphOf()];
    const prefix = { CHANNEL_PREFIX: blue.settings.CHANNEL_PREFIX };
    for (const { settings, topic } of [blue, green, blue]) {
      const pod = await new PodServer().start({ ...settings, ...prefix });
      const client = watch(t, pod.url, 'subscription { any_order { order_id } }');
      // The protocol does not acknowledge a subscribe.
      await waitFor('an event', async () => {
        await outside.sendValues(topic, [orderRecord('1')]);
        return client.events.length > 0;
      });
      assert.doesNotMatch(pod.log, /fenced|FencedError/);
      await pod.stop();
    }
  });
});

describe('a worker without KAFKA_GROUP_ID', { concurrency: 4 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Settings of a worker of a graph of its own, and the group that its graph has by default. */
  async function stage(t: TestContext) {
    const topic = await outside.createTopic();
    const { url: redisUrl } = await redisServer(t);
    const settings = await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl });
    return {
      topic,
      settings: { ...settings, ROLE: 'worker', KAFKA_GROUP_ID: '' },
      groupId: `crier-${basename(settings.GRAPH)}`,
    };
  }

  it('joins a group with the name of its graph', async (t) => {
    const { topic, settings, groupId } = await stage(t);
    const pod = await startPod(t, settings);
    await pod.reports({ kafka: 'connected' });
    await outside.sendValues(topic, [orderRecord('1')]);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 1);
  });

  it('goes on in the group crier if that has commits of its topics, loses no record, and says how to choose', async (t) => {
    const { topic, settings, groupId } = await stage(t);
    await outside.sendValues(topic, [orderRecord('1'), orderRecord('2'), orderRecord('3')]);
    const partitions = [{ partition: 0, offset: '1' }];
    await outside.ask((admin) => admin.setOffsets({ groupId: 'crier', topic, partitions }));
    const pod = await startPod(t, settings);
    await waitFor('the commit', async () => (await outside.committed('crier', topic)) === 3);
    assert.ok((await pod.metric(`crier_records_consumed_total{topic="${topic}"}`)) >= 2);
    assert.match(pod.log, new RegExp(`Set KAFKA_GROUP_ID=crier to keep it; with KAFKA_GROUP_ID=${groupId}`));
    assert.equal(await outside.committed(groupId, topic), 0);
    // Another worker decides alike.
    const other = await startPod(t, { ...settings, POD_NAME: 'other' });
    await other.reports({ kafka: 'connected', differing_members: [] });
  });

  it('ends with one line if another group has locked its channels', async (t) => {
    const { settings, groupId } = await stage(t);
    await startPod(t, { ...settings, KAFKA_GROUP_ID: 'blue' });
    const pod = spawnPod(t, settings);
    assert.equal(await pod.ended, 1);
    const lines = pod.log.split('\n').filter((line) => line.includes('may not publish'));
    assert.equal(lines.length, 1, pod.log);
    assert.match(lines[0]!, new RegExp(`^crier: KAFKA_GROUP_ID: the group "${groupId}" .* the group "blue" does so`));
    assert.doesNotMatch(pod.log, /"level":"(fatal|error)"|\n {4}at /);
  });
});

describe('two workers of one consumer group', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Two workers with a Redis each. They have joined one group. */
  async function twoWorkers(t: TestContext, redisUrls: readonly [string, string]) {
    const topic = await outside.createTopic();
    const settings = await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl: redisUrls[0] });
    const pods: Awaited<ReturnType<typeof startPod>>[] = [];
    for (const REDIS_URL of redisUrls) pods.push(await startPod(t, { ...settings, REDIS_URL, ROLE: 'worker' }));
    for (const pod of pods) await pod.reports({ kafka: 'connected' });
    const members = async () => {
      const { groups } = await outside.ask((admin) => admin.describeGroups([settings.KAFKA_GROUP_ID]));
      return groups[0]!.members;
    };
    await waitFor(
      'both members',
      async () =>
        (await members()).every(({ memberAssignment }) => memberAssignment.length > 0) &&
        (await members()).length === 2,
    );
    return () => pods.map(({ log }) => log).join('');
  }

  it('say so if they publish on different Redis servers: the gateways of each would miss a part', async (t) => {
    const servers = [await redisServer(t), await redisServer(t)] as const;
    const logs = await twoWorkers(t, [servers[0].url, servers[1].url]);
    await waitFor('the error', () =>
      logs().includes('the workers of this consumer group differ in their Redis or CHANNEL_PREFIX'),
    );
    assert.match(logs(), /"level":"error"[^\n]*"places":2,"members":2/);
  });

  it('name each other in /readyz and the log if their graphs read other topics, stay ready, and read the topics of both', async (t) => {
    const [one, two] = [await outside.createTopic(), await outside.createTopic()];
    const { url: redisUrl } = await redisServer(t);
    const settings = await ordersSettings(t, { topic: one, brokers: outside.brokers, redisUrl });
    const { GRAPH } = await ordersSettings(t, { topic: two, brokers: outside.brokers, redisUrl });
    const former = await startPod(t, { ...settings, POD_NAME: 'former' });
    const next = await startPod(t, { ...settings, GRAPH, POD_NAME: 'next' });
    const difference = (member: string, graph: string, adds: string, lacks: string) => [
      { member, graph: basename(graph), adds: [adds], lacks: [lacks] },
    ];
    const status = 'ready';
    await former.reports({ status, differing_members: difference('next', GRAPH, two, one) });
    await next.reports({
      status,
      differing_members: difference('former', settings.GRAPH, one, two),
      unread_topics: [],
    });
    for (const { log } of [former, next]) assert.match(log, /members of this consumer group have other topics/);
    const clients = [former, next].map(({ url }) => watch(t, url, 'subscription { any_order { order_id } }'));
    // The protocol does not acknowledge a subscribe.
    await waitFor('the records of both', async () => {
      for (const topic of [one, two]) await outside.sendValues(topic, [orderRecord(topic)]);
      return clients.every(({ events }) => events.length > 0);
    });
    await former.stop();
    await next.reports({ differing_members: [] });
  });

  it('say nothing if they publish on one', async (t) => {
    const { url } = await redisServer(t);
    const logs = await twoWorkers(t, [url, url]);
    assert.doesNotMatch(logs(), /differ in their Redis/);
  });
});
