import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '../../../src/config/config.ts';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { readableLog } from '../consumer-harness.ts';

const config = readConfig({ KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' });

it('logs a warning of kafkajs that has no namespace', (t) => {
  const { log, lines } = readableLog();
  const client = createKafkaClient(config, log);
  t.after(() => client.destroy());
  client.kafka.logger().warn('deprecated', { topic: 'bids' });
  client.kafka.logger().namespace('Consumer 7').warn('slow', { groupId: 'g' });
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    logged.map(({ msg, topic, groupId, err }) => ({ msg, topic, groupId, err })),
    [
      { msg: 'kafkajs: deprecated', topic: 'bids', groupId: undefined, err: undefined },
      { msg: 'kafkajs Consumer 7: slow', topic: undefined, groupId: 'g', err: undefined },
    ],
  );
});

it('copies only known fields of kafkajs entries, and logs one entry per kind and 5 s', (t) => {
  const { log, lines } = readableLog();
  const client = createKafkaClient(config, log);
  t.after(() => client.destroy());
  const logger = client.kafka.logger().namespace('Connection');
  for (let i = 0; i < 3; i++) logger.error('closed', { broker: 'a:1', payload: 'secret', error: new Error('reset') });
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /"broker":"a:1"/);
  assert.match(lines[0]!, /reset/);
  assert.doesNotMatch(lines[0]!, /secret/);
});

it('logs no warning of the connections that it closes itself', () => {
  const { log, lines } = readableLog();
  const client = createKafkaClient(config, log);
  client.destroy();
  client.kafka.logger().namespace('Connection').error('Connection error: reset', { broker: 'a:1' });
  assert.deepEqual(lines, []);
});

it('logs no warning of a new cluster that has no coordinator of groups yet', (t) => {
  const { log, lines } = readableLog();
  const client = createKafkaClient(config, log);
  t.after(() => client.destroy());
  const logger = client.kafka.logger().namespace('Connection');
  const message = 'Response GroupCoordinator(key: 10, version: 2)';
  logger.error(message, { broker: 'a:1', error: 'The group coordinator is not available' });
  assert.deepEqual(lines, []);
  logger.error(message, { broker: 'a:1', error: 'Group authorization failed' });
  assert.equal(lines.length, 1);
});
