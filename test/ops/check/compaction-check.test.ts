import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { readSettings } from '../../../src/config/config.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { KafkaProbe } from '../../../src/kafka/client/kafka-probe.ts';
import { checkCompaction } from '../../../src/ops/check/compaction-check.ts';
import { createTopics } from '../../../stack/topics.ts';
import { kafkaBrokers, randomName } from '../../support/services.ts';

it('warns of each topic with state that is not compacted', async (t) => {
  const brokers = await kafkaBrokers(t);
  const [compacted, both, deleting] = [randomName(), randomName(), randomName()];
  const policy = (value: string) => [{ name: 'cleanup.policy', value }];
  await createTopics(brokers, [
    { topic: compacted, configEntries: policy('compact') },
    { topic: both, configEntries: policy('compact,delete') },
    { topic: deleting },
  ]);
  const client = createKafkaClient(readSettings({ KAFKA_BROKERS: brokers }), createLog('silent'));
  t.after(() => client.destroy());
  const probe = await KafkaProbe.connect(client);
  assert.deepEqual(await checkCompaction(probe, [compacted, both]), []);
  assert.deepEqual(await checkCompaction(probe, []), []);
  const [finding, ...others] = await checkCompaction(probe, [compacted, deleting]);
  assert.deepEqual(others, []);
  assert.equal(finding!.status, 'warning');
  const text = new RegExp(
    `^Kafka: the topic ${deleting} keeps states, but has cleanup.policy=delete: .*; set cleanup.policy=compact`,
  );
  assert.match(finding!.text, text);
});
