import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo, Socket as TcpSocket } from 'node:net';
import { after, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import type { KafkaBroker } from '../../stack/kafka-broker.ts';
import { freePorts } from '../../stack/port.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import { createTopics } from '../../stack/topics.ts';
import { redisCluster, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { watch } from '../support/stock-client.ts';
import { EVERY_FIELD, orderEvent, orderRecord, ordersSettings } from '../end-to-end/orders.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { kcatProducer } from '../end-to-end/producers.ts';

const SUBSCRIPTION = `subscription { order_updated(order_id: 7) ${EVERY_FIELD} }`;

/** A server that accepts every connection and sends nothing. */
async function silentServer(t: TestContext): Promise<string> {
  const sockets = new Set<TcpSocket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a pod without Kafka and Redis', () => {
  let broker: KafkaBroker | undefined;
  after(() => broker?.stop());
  const produce = (id: number) =>
    kcatProducer(broker!.address)([{ topic: 'orders', partition: 0, key: 'k', value: orderRecord(`${id}`) }]);

  it('starts, reports both in /readyz, and delivers once they are available', async (t) => {
    const [kafkaPort, redisPort] = (await freePorts(2)) as [number, number];
    const pod = await spawnPod(
      t,
      await ordersSettings(t, {
        topic: 'orders',
        brokers: `127.0.0.1:${kafkaPort}`,
        redisUrl: `redis://127.0.0.1:${redisPort}`,
      }),
    ).started();
    const { status, body } = await pod.readiness();
    assert.equal(status, 200, 'with another status, Kubernetes would take all pods out of service at once');
    const { kafka, bus, away_servers } = body;
    assert.deepEqual([kafka, bus, away_servers], ['away', 'away', [`127.0.0.1:${redisPort}`]]);
    const refused = watch(t, pod.url, SUBSCRIPTION);
    await assert.rejects(refused.event(), /BUS_UNAVAILABLE/);

    const redis = await startRedisServer({ port: redisPort });
    t.after(() => redis.stop());
    await pod.reports({ bus: 'available', kafka: 'away' });
    broker = await startKafkaBroker({ port: kafkaPort });
    await createTopics(broker.address, [{ topic: 'orders', numPartitions: 2 }]);
    await pod.reports({ bus: 'available', kafka: 'connected', missing_topics: [] });

    const subscription = watch(t, pod.url, SUBSCRIPTION);
    for (let count = 1; subscription.events.length === 0; count++) {
      await produce(7);
      await subscription.event(1, 2000).catch((error: unknown) => {
        if (count === 10) throw error;
      });
    }
    assert.deepEqual(subscription.events[0], { order_updated: orderEvent('7') });
    assert.equal(await pod.stop(), 0);
  });

  it('exits on SIGTERM within the deadline while Kafka and Redis hang and a client does not answer', async (t) => {
    const redis = await redisServer(t);
    const settings = await ordersSettings(t, { topic: 'orders', brokers: broker!.address, redisUrl: redis.url });
    const pod = await spawnPod(t, settings).started();
    const ofAnotherGroup = { KAFKA_GROUP_ID: 'hasty', CHANNEL_PREFIX: 'hasty:' };
    const hasty = await spawnPod(t, { ...settings, ...ofAnotherGroup, SHUTDOWN_TIMEOUT_MS: '300' }).started();
    for (const one of [pod, hasty]) await one.reports({ kafka: 'connected' });
    const client = await openSocket(t, pod.url);
    await client.init();
    client.subscribe('1', SUBSCRIPTION);
    await client.roundTrip();
    client.pause();
    // A poison record opens the connection to the dead-letter topic.
    await kcatProducer(broker!.address)([{ topic: 'orders', partition: 0, key: 'k', value: 'poison' }]);
    await pod.counts('crier_poison_records_total{topic="orders",reason="not_json"}', 1);
    broker!.process.kill('SIGSTOP');
    redis.process.kill('SIGSTOP');
    t.after(() => {
      broker!.process.kill('SIGCONT');
      redis.process.kill('SIGCONT');
    });
    assert.deepEqual(await Promise.all([pod.stop(), hasty.stop()]), [0, 1], pod.log);
    assert.equal(hasty.lines.at(-1)!.msg, 'not closed within SHUTDOWN_TIMEOUT_MS');
  });
});

describe('a gateway over a Redis Cluster', () => {
  it('stays ready while a shard is stopped, names its address in /readyz without the password, and no longer once a replica has its slots', async (t) => {
    const cluster = await redisCluster(t, { password: 'the-password' });
    const [lost] = cluster.primaries;
    const redisUrl = cluster.url.replace('//', '//:the-password@');
    const settings = await ordersSettings(t, { topic: 'orders', brokers: '', redisUrl });
    const pod = await spawnPod(t, { ...settings, ROLE: 'gateway' }).started();
    await pod.reports({ bus: 'available', away_servers: [] });
    await lost!.stop();
    await pod.reports({ bus: 'away', away_servers: [`127.0.0.1:${lost!.port}`] });
    const { status, body } = await pod.readiness();
    assert.equal(status, 200);
    assert.doesNotMatch(JSON.stringify(body), /the-password/);
    await pod.reports({ bus: 'available', away_servers: [] });
  });
});

describe('SIGTERM during the start', () => {
  it('exits with 0 without waiting for Kafka', async (t) => {
    const redis = await redisServer(t);
    const [adminPort] = await freePorts(1);
    const brokers = await silentServer(t);
    const settings = await ordersSettings(t, { topic: 'orders', brokers, redisUrl: redis.url });
    const pod = spawnPod(t, { ...settings, ADMIN_PORT: `${adminPort}` });
    await pod.until('the start', async () => {
      const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
      const { status, bus } = ((await response?.json()) ?? {}) as Record<string, unknown>;
      return status === 'starting' && bus === 'available';
    });
    assert.equal(pod.output, '');
    assert.equal(await pod.stop(), 0, pod.log);
  });
});
