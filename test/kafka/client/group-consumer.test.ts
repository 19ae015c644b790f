import { describe, it } from 'node:test';
import { readSettings } from '../../../src/config/config.ts';
import { InflightBudget } from '../../../src/kafka/client/fetching/inflight-budget.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { GroupConsumer } from '../../../src/kafka/client/group-consumer.ts';
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
    let onJoin!: () => void;
    const joined = new Promise<void>((resolve) => (onJoin = resolve));
    const consumer = new GroupConsumer(client, {
      groupId: randomName('group'),
      topics: [topic],
      sessionTimeoutMs: 6000,
      heartbeatIntervalMs: 2000,
      rebalanceTimeoutMs: 6000,
      concurrency: 1,
      budget: new InflightBudget(1_000_000),
      maxInflatedBytes: 1_000_000,
      members: { facts: () => ({}), onUndescribed: () => undefined, onAssigned: () => undefined },
      onBatch: () => Promise.resolve(),
      onJoin,
      onFailure: () => undefined,
      onEmptyBatch: () => undefined,
    });
    await consumer.start();
    await joined;
    await consumer.close();
    const partitions = [{ topic, partition: 0 }];
    consumer.pause(partitions);
    consumer.resume(partitions);
    consumer.seek({ topic, partition: 0, offset: 0 });
  });
});
