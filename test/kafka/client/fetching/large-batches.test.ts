import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { ChannelMessage } from '../../../../src/bus/bus-message.ts';
import { createTopics } from '../../../../stack/topics.ts';
import { randomName } from '../../../support/services.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { RecordingBus, createConsumer, withOutside } from '../../consumer-harness.ts';
import type { Outside } from '../../consumer-harness.ts';

const RECORDS = 200_000;
const MIB = 1024 * 1024;

describe('KafkaConsumer with large batches', { concurrency: 3 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function createTopic(): Promise<string> {
    const topic = randomName('large');
    const configEntries = [{ name: 'max.message.bytes', value: `${16 * MIB}` }];
    await createTopics(outside.brokers, [{ topic, numPartitions: 1, configEntries }]);
    return topic;
  }

  /** Counts records instead of keeping them: each has to be the next one. */
  function countingBus() {
    const bus = new RecordingBus();
    const seen = { next: 0, isInOrder: true };
    const publish = (messages: readonly ChannelMessage[]) => {
      for (const { offset } of messages) if (offset !== seen.next++) seen.isInOrder = false;
      return Promise.resolve();
    };
    return {
      seen,
      ports: { publish, acquire: bus.acquire, convert: () => ({ payload: '{}', destinations: [{ channel: 'one' }] }) },
    };
  }

  for (const isCompressed of [true, false]) {
    it(`delivers each of ${RECORDS} records of one ${isCompressed ? 'compressed' : 'plain'} batch, and the records after it`, async (t) => {
      const topic = await createTopic();
      const { seen, ports } = countingBus();
      const { consumer, counts, groupId } = createConsumer(t, outside.brokers, [topic], { ports });
      await consumer.start();
      await produceOneBatch(outside.brokers, topic, isCompressed);
      await outside.send(topic, [{ value: '{}' }]);
      await waitFor('every record', () => seen.next > RECORDS, 60_000);
      await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === RECORDS + 1);
      assert.equal(seen.next, RECORDS + 1);
      assert.ok(seen.isInOrder);
      assert.deepEqual(counts.rebuilds, []);
    });
  }

  it('delivers batches that together inflate to more than MAX_INFLIGHT_BYTES', async (t) => {
    const topic = await createTopic();
    const { seen, ports } = countingBus();
    const { consumer, counts } = createConsumer(t, outside.brokers, [topic], {
      ports,
      environment: { MAX_INFLIGHT_BYTES: `${MIB}`, MAX_INFLATED_BATCH_BYTES: `${MIB}`, KAFKA_FROM_BEGINNING: 'true' },
    });
    const text = JSON.stringify({ text: 'x'.repeat(10_000) });
    for (let i = 0; i < 20; i++)
      await outside.send(
        topic,
        Array.from({ length: 50 }, () => ({ value: text })),
        true,
      );
    await consumer.start();
    await waitFor('every record', () => seen.next === 1000, 30_000);
    assert.ok(seen.isInOrder);
    assert.deepEqual(counts.rebuilds, []);
  });

  it('delivers only committed records of transactions that are read in parts', async (t) => {
    const topic = await createTopic();
    const { consumer, bus, counts } = createConsumer(t, outside.brokers, [topic], {
      environment: { MAX_INFLIGHT_BYTES: `${MIB}`, MAX_INFLATED_BATCH_BYTES: `${MIB}`, KAFKA_FROM_BEGINNING: 'true' },
    });
    const producers = Array.from({ length: 2 }, () =>
      outside.kafka.producer({ transactionalId: randomName('transaction'), maxInFlightRequests: 1, idempotent: true }),
    );
    await Promise.all(producers.map((producer) => producer.connect()));
    let seq = 0;
    for (const isAborted of [true, false, true, true, false]) {
      const transactions = await Promise.all(producers.map((producer) => producer.transaction()));
      for (let i = 0; i < 4; i++) {
        for (const transaction of transactions) {
          const messages = Array.from({ length: 500 }, () => ({
            value: JSON.stringify(isAborted ? { isAborted } : { key: 'one', seq: seq++ }),
          }));
          await transaction.send({ topic, messages });
        }
      }
      for (const transaction of transactions) await (isAborted ? transaction.abort() : transaction.commit());
    }
    await Promise.all(producers.map((producer) => producer.disconnect()));
    await consumer.start();
    await waitFor('every committed message', () => bus.messages.length >= seq, 30_000);
    assert.deepEqual(
      bus.of(topic).map((payload) => payload.seq),
      Array.from({ length: seq }, (_, i) => i),
    );
    assert.deepEqual(counts.rebuilds, []);
  });

  it('dead-letters each record of a batch that exceeds MAX_INFLATED_BATCH_BYTES, and delivers the next batch', async (t) => {
    const topic = await createTopic();
    const { consumer, bus, counts, groupId } = createConsumer(t, outside.brokers, [topic], {
      environment: { MAX_INFLATED_BATCH_BYTES: '131072' },
    });
    await consumer.start();
    await outside.send(topic, [{ value: '{"seq":0}' }]);
    await outside.send(
      topic,
      Array.from({ length: 3 }, () => ({ value: JSON.stringify({ text: 'x'.repeat(100_000) }) })),
      true,
    );
    await outside.send(topic, [{ value: '{"seq":4}' }]);
    await waitFor('the batch after it', () => bus.messages.length === 2);
    assert.deepEqual(
      bus.of(topic).map(({ seq }) => seq),
      [0, 4],
    );
    assert.deepEqual(counts.poison, ['batch_too_large', 'batch_too_large', 'batch_too_large']);
    const dead = await outside.readAll(`${groupId}-dead`, 3);
    assert.deepEqual(dead.map(({ headers }) => String(headers?.['crier-offset'])).sort(), ['1', '2', '3']);
    for (const { headers } of dead) assert.equal(String(headers?.['crier-value-omitted']), 'true');
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 5);
  });
});

/** Records `{}`. kafkajs's producer takes minutes for so many at once. */
async function produceOneBatch(brokers: string, topic: string, isCompressed: boolean): Promise<void> {
  const settings = [`batch.num.messages=${RECORDS}`, 'linger.ms=5000', `batch.size=${16 * MIB}`];
  const limits = [`queue.buffering.max.messages=${2 * RECORDS}`, `message.max.bytes=${16 * MIB}`];
  const options = [...settings, ...limits].flatMap((setting) => ['-X', setting]);
  const codec = isCompressed ? 'gzip' : 'none';
  const kcat = spawn('kcat', ['-P', '-b', brokers, '-t', topic, '-z', codec, ...options], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  kcat.stdin.end('{}\n'.repeat(RECORDS));
  const [code] = (await once(kcat, 'exit')) as [number];
  assert.equal(code, 0);
}
