import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Cluster } from '../../../src/kafka/client/cluster.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { testConfig } from '../../support/switches.ts';
import { randomName } from '../../support/services.ts';
import { readableLog, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

describe('topicIds', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('has the id of each topic that exists, and another one after it was created again', async (t) => {
    const config = testConfig({ KAFKA_BROKERS: outside.brokers, REDIS_URL: 'redis://127.0.0.1:1' });
    const cluster = new Cluster(() => createKafkaClient(config, readableLog().log));
    t.after(() => cluster.close());
    const [kept, replaced] = [await outside.createTopic(), await outside.createTopic()];
    const topics = [kept, randomName('missing'), replaced];
    const before = await cluster.topicIds(topics);
    assert.deepEqual([...before.keys()].sort(), [kept, replaced].sort());
    for (const id of before.values()) assert.match(id, /^[\w-]{22}$/);
    await outside.deleteTopic(replaced);
    await outside.createTopic(replaced);
    const after = await cluster.topicIds(topics);
    assert.equal(after.get(kept), before.get(kept));
    assert.notEqual(after.get(replaced), before.get(replaced));
    assert.deepEqual(await cluster.topicIds([]), new Map());
  });
});
