import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import kafkajs from 'kafkajs';
import type { ChannelMessage } from '../../../src/bus/bus-message.ts';
import type { Position } from '../../../src/bus/publisher.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/base/log.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, orderBreak, RecordingBus, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

const PATIENCE_MS = 60_000;

/** Each protection, and what happens without it. */
describe('a Kafka consumer that stops reading', { timeout: 280_000, concurrency: 3 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('is replaced if a batch never ends (twin: without the watchdog consumption stops silently)', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    /** Hangs in its first batch only. */
    const create = (stallTimeoutMs: number) => {
      const bus = new RecordingBus();
      let batches = 0;
      const publish = (messages: readonly ChannelMessage[]) =>
        ++batches === 1 ? new Promise<never>(() => undefined) : bus.publish(messages);
      const environment = { KAFKA_STALL_TIMEOUT_MS: `${stallTimeoutMs}` };
      return createConsumer(t, outside.brokers, [topic], { bus, environment, ports: { publish } });
    };
    const watched = create(2_500);
    const twin = create(3_600_000);
    await Promise.all([watched.consumer.start(), twin.consumer.start()]);
    await waitFor('both groups', () => watched.consumer.isConnected && twin.consumer.isConnected, PATIENCE_MS);
    // A fresh broker may have refused the first joins: its coordinator is not there at once.
    for (const { counts } of [watched, twin]) counts.rebuilds.length = 0;
    await outside.sendSequences(topic, 1, 10);
    await waitFor('every message', () => watched.bus.messages.length >= 10, PATIENCE_MS);
    assert.equal(orderBreak(watched.bus.of(topic), true), undefined);
    assert.deepEqual(watched.counts.rebuilds, ['stalled']);
    assert.deepEqual(watched.fatal, []);
    assert.deepEqual(twin.bus.messages, []);
    assert.deepEqual(twin.counts.rebuilds, []);
    assert.equal(twin.consumer.isConnected, true, 'it looks alive');
  });

  it('is replaced after a crash that kafkajs does not recover from (twin: kafkajs alone stops reading)', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const crash = () => Promise.reject(new kafkajs.KafkaJSNonRetriableError('for good'));
    const bus = new RecordingBus();
    let batches = 0;
    const publish = (messages: readonly ChannelMessage[]) => (++batches === 2 ? crash() : bus.publish(messages));
    const { consumer, counts } = createConsumer(t, outside.brokers, [topic], { bus, ports: { publish } });
    await consumer.start();

    const twin = outside.kafka.consumer({ groupId: randomName('group'), maxWaitTimeInMs: 100 });
    t.after(() => twin.disconnect());
    const crashes: boolean[] = [];
    twin.on(twin.events.CRASH, ({ payload }) => crashes.push(payload.restart));
    let isTwinReady = false;
    twin.on(twin.events.GROUP_JOIN, () => (isTwinReady = true));
    const read: number[] = [];
    await twin.connect();
    await twin.subscribe({ topics: [topic], fromBeginning: true });
    await twin.run({
      eachMessage: ({ message }) => {
        const { seq } = JSON.parse(message.value!.toString()) as { seq: number };
        if (seq >= 1) return crash();
        read.push(seq);
        return Promise.resolve();
      },
    });
    await waitFor('the group of the twin', () => isTwinReady, PATIENCE_MS);

    for (let seq = 0; seq < 10; seq++) {
      await outside.sendSequences(topic, 1, 1, seq);
      // So that there is more than one batch.
      if (seq === 0) await waitFor('the first message', () => bus.messages.length === 1, PATIENCE_MS);
    }
    await waitFor('every message', () => bus.messages.length >= 10, PATIENCE_MS);
    assert.equal(orderBreak(bus.of(topic), true), undefined);
    assert.deepEqual(counts.rebuilds, ['crashed']);
    await waitFor('the crash of the twin', () => crashes.length > 0, PATIENCE_MS);
    assert.deepEqual(crashes, [false]);
    assert.deepEqual(read, [0]);
  });

  it('publishes nothing late after its partition moved to another member (twin: without the fence, old records follow new ones)', async (t) => {
    const prefix = randomName('prefix');
    // Its channel, of the same name, has the prefix of the bus.
    const topic = await outside.createTopic(randomName(prefix), 2);
    /** To the partition that moves: of two partitions, the second member gets the last one. */
    const send = (count: number, first: number) => {
      const seqs = Array.from({ length: count }, (_, i) => first + i);
      return outside.send(
        topic,
        seqs.map((seq) => ({ partition: 1, value: JSON.stringify({ key: '1', seq }) })),
      );
    };
    const { url } = await redisServer(t);
    const startBus = async () => {
      const bus = new RedisBus({ url: url, prefix, log: createLog('silent') });
      t.after(() => bus.close());
      await bus.start();
      return bus;
    };
    const [slow, quick] = [await startBus(), await startBus()];
    const shown: number[] = [];
    await quick.subscribe(topic, (payload) => shown.push((JSON.parse(String(payload)) as { seq: number }).seq));
    const groupId = randomName('group');
    const unfenced = new RecordingBus();
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    t.after(() => goOn());
    let isHeld = false;
    let late: PromiseSettledResult<void> | undefined;
    const first = createConsumer(t, outside.brokers, [topic], {
      groupId,
      ports: {
        acquire: (lease) => slow.acquire(lease),
        publish: async (messages: readonly ChannelMessage[], upTo: Position) => {
          if (upTo.offset < 5) {
            await unfenced.publish(messages);
            return slow.publish(messages, upTo);
          }
          isHeld = true;
          await held;
          await unfenced.publish(messages);
          [late] = await Promise.allSettled([slow.publish(messages, upTo)]);
          if (late.status === 'rejected') throw late.reason;
        },
      },
    });
    await first.consumer.start();
    await send(5, 0);
    await waitFor('the first five', () => shown.length === 5, PATIENCE_MS);
    await send(5, 5);
    await waitFor('a batch under way', () => isHeld, PATIENCE_MS);

    const second = createConsumer(t, outside.brokers, [topic], {
      groupId,
      ports: {
        acquire: (lease) => quick.acquire(lease),
        publish: async (messages: readonly ChannelMessage[], upTo: Position) => {
          await unfenced.publish(messages);
          return quick.publish(messages, upTo);
        },
      },
    });
    await second.consumer.start();
    await waitFor('the other five, from the successor', () => shown.length === 10, PATIENCE_MS);
    await send(5, 10);
    await waitFor('five more', () => shown.length === 15, PATIENCE_MS);
    goOn();
    await waitFor('the late publish', () => late, PATIENCE_MS);
    assert.equal(late?.status, 'rejected');
    assert.equal((late.reason as Error).name, 'FencedError');
    await send(1, 15);
    await waitFor('the last message', () => shown.length >= 16, PATIENCE_MS);
    assert.deepEqual(
      shown,
      Array.from({ length: 16 }, (_, i) => i),
    );
    const seen = unfenced.of(topic).map(({ seq }) => seq);
    assert.ok(
      seen.some((seq, i) => i > 0 && seq < seen[i - 1]!),
      'what was published would have come late without the fence',
    );
  });
});
