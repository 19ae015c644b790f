import assert from 'node:assert/strict';
import { it } from 'node:test';
import kafkajs from 'kafkajs';
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
  const admin = new kafkajs.Kafka({ brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  t.after(() => admin.disconnect());
  assert.deepEqual(await checkCompaction(admin, [compacted, both]), []);
  assert.deepEqual(await checkCompaction(admin, []), []);
  const [finding, ...others] = await checkCompaction(admin, [compacted, deleting]);
  assert.deepEqual(others, []);
  assert.equal(finding!.status, 'warning');
  const text = new RegExp(
    `^Kafka: the topic ${deleting} keeps states, but has cleanup.policy=delete: .*; set cleanup.policy=compact`,
  );
  assert.match(finding!.text, text);
});
