import { describe, it } from 'node:test';
import { readSettings } from '../../../src/config/config.ts';
import { InflightBudget } from '../../../src/kafka/client/fetching/inflight-budget.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { createGroupConsumer } from '../../../src/kafka/client/group-consumer.ts';
import { createLog } from '../../../src/base/log.ts';
import { randomName } from '../../support/services.ts';
import { withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

describe('a consumer of a group', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('may be paused, resumed and moved after kafkajs has stopped it', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const client = createKafkaClient(readSettings({ KAFKA_BROKERS: outside.brokers }), createLog('silent'));
    t.after(() => client.destroy());
    const consumer = createGroupConsumer(client, {
      groupId: randomName('group'),
      sessionTimeoutMs: 6000,
      heartbeatIntervalMs: 2000,
      budget: new InflightBudget(1_000_000),
      maxInflatedBytes: 1_000_000,
      facts: () => ({}),
      onUndescribed: () => undefined,
    });
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    await consumer.run({ eachBatch: () => Promise.resolve() });
    await joined;
    await consumer.disconnect();
    const partitions = [{ topic, partitions: [0] }];
    consumer.pause(partitions);
    consumer.resume(partitions);
    consumer.seek({ topic, partition: 0, offset: '0' });
  });
});
