import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import type { KafkaBroker } from '../../stack/kafka-broker.ts';
import { freePorts } from '../../stack/port.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, orderBreak, Outside } from '../kafka/consumer-harness.ts';

/** Publishes by one pipeline; what Redis does not take at once is refused. */
function redisPublish(redis: Redis): (messages: readonly ChannelMessage[]) => Promise<void> {
  return async (messages) => {
    const pipeline = redis.pipeline();
    for (const { channel, payload } of messages) pipeline.publish(channel, payload);
    const answers = await pipeline.exec().catch((error: Error) => [[error, undefined] as const]);
    const failure = answers?.find(([error]) => error)?.[0];
    if (failure) throw new BusUnavailableError('refused', { cause: failure });
  };
}

describe('KafkaConsumer while servers go down and recover', () => {
  it('waits for a broker that is down at the start, and survives its restart', async (t) => {
    const [port] = await freePorts(1);
    const topic = randomName('topic');
    const { consumer, bus, lines } = createConsumer(t, `127.0.0.1:${port}`, [topic]);
    await consumer.start();
    assert.equal(consumer.isConnected, false);
    await waitFor('the reason', () => lines.some((line) => line.includes('unreachable')));

    let broker: KafkaBroker = await startKafkaBroker({ port: port! });
    t.after(() => broker.stop());
    let outside = new Outside(broker.address);
    await outside.connect();
    await outside.createTopic(topic);
    await waitFor('the join', () => consumer.isConnected, 30_000);
    await outside.sendSequences(topic, 4, 10);
    await waitFor('every message', () => bus.messages.length === 40, 30_000);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    await outside.close();
    await broker.stop();
    await waitFor('the loss of the connection', () => !consumer.isConnected, 30_000);

    // A fresh broker on the same port: the topic is gone, and comes again.
    bus.messages.length = 0;
    const downLines = lines.length;
    broker = await startKafkaBroker({ port: port! });
    outside = new Outside(broker.address);
    await outside.connect();
    await outside.createTopic(topic);
    await waitFor('the next join', () => consumer.isConnected, 30_000);
    await outside.sendSequences(topic, 4, 10);
    await waitFor('every message again', () => bus.messages.length === 40, 30_000);
    assert.ok(lines.length - downLines < 60, `${lines.length - downLines} lines`);
    await outside.close();
  });

  it('loses no record produced while Redis was down', async (t) => {
    const broker = await startKafkaBroker();
    t.after(() => broker.stop());
    let server = await startRedisServer();
    t.after(() => server.stop());
    const publisher = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 100,
    });
    const subscriber = new Redis(server.url, { retryStrategy: () => 100 });
    for (const client of [publisher, subscriber]) client.on('error', () => undefined);
    t.after(() => {
      publisher.disconnect();
      subscriber.disconnect();
    });
    const outside = new Outside(broker.address);
    await outside.connect();
    t.after(() => outside.close());
    const topic = await outside.createTopic();
    const received: { key: string; seq: number }[] = [];
    subscriber.on('message', (_channel, payload) => received.push(JSON.parse(payload) as { key: string; seq: number }));
    await subscriber.subscribe(topic);
    const { consumer, counts, groupId } = createConsumer(t, broker.address, [topic], {
      ports: { publish: redisPublish(publisher) },
    });
    await consumer.start();
    await outside.sendSequences(topic, 4, 10);
    await waitFor('the first messages', () => received.length === 40);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 40);
    // A fresh broker may still load the group's coordinator: that failed join is not what this is about.
    const rebuilds = counts.rebuilds.length;

    await server.stop();
    await outside.sendSequences(topic, 4, 10, 10);
    await waitFor('paused partitions', () => counts.paused === 4);
    assert.equal(await outside.committed(groupId, topic), 40);
    const resume = counts.published;
    server = await startRedisServer({ port: server.port });
    await waitFor('every message', () => counts.published >= resume + 40, 20_000);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 80);
    assert.equal(counts.paused, 0);
    assert.equal(counts.rebuilds.length, rebuilds);
    await waitFor('the subscriber', async () => Number((await publisher.pubsub('NUMSUB', topic))[1]) === 1);
    const later = received.length;
    await outside.sendSequences(topic, 4, 1, 20);
    await waitFor('live messages', () => received.length >= later + 4);
  });

  it('closes in every state, and leaves nothing that keeps the process alive', async (t) => {
    const broker = await startKafkaBroker();
    t.after(() => broker.stop());
    const outside = new Outside(broker.address);
    await outside.connect();
    t.after(() => outside.close());
    const topic = await outside.createTopic();
    const [deadPort] = await freePorts(1);
    for (const state of ['before start', 'during start', 'twice', 'in flight', 'hanging', 'unreachable', 'no topic']) {
      const address = state === 'unreachable' ? `127.0.0.1:${deadPort}` : broker.address;
      const child = spawn(
        process.execPath,
        [new URL('./close-states.js', import.meta.url).pathname, state, address, state === 'no topic' ? 'none' : topic],
        { stdio: ['ignore', 'inherit', 'inherit'] },
      );
      const started = performance.now();
      const code = await new Promise<number | null>((resolve) => {
        const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
        child.once('exit', (exitCode) => {
          clearTimeout(timer);
          resolve(exitCode);
        });
      });
      assert.equal(code, 0, `closed ${state}`);
      t.diagnostic(`${state}: ${Math.round(performance.now() - started)} ms`);
    }
  });
});
