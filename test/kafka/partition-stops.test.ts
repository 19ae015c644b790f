import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SchemaUnavailableError } from '../../src/kafka/decoding/schema-errors.ts';
import { waitFor } from '../support/wait-for.ts';
import { convert, createConsumer, orderBreak, withOutside } from './consumer-harness.ts';
import type { Outside } from './consumer-harness.ts';

const GARBAGE = Array.from({ length: 150 }, (_, i) => ({ partition: 0, value: `<order id="${i}"/>` }));

describe('a partition', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('waits for a schema that cannot be had, without a commit, a dead letter or a loss', async (t) => {
    const topic = await outside.createTopic(undefined, 2);
    let isAway = false;
    const { consumer, bus, counts, groupId, lines } = createConsumer(t, outside.brokers, [topic], {
      ports: {
        convert: (record) =>
          isAway && record.value!.includes('"key":"0"')
            ? Promise.reject(new SchemaUnavailableError('the registry is away', 7))
            : Promise.resolve(convert(record)),
      },
    });
    await consumer.start();
    await outside.sendSequences(topic, 2, 10);
    await waitFor('the first records', () => bus.of(topic).length === 20);
    await waitFor('their commit', async () => (await outside.committed(groupId, topic)) === 20);
    isAway = true;
    await outside.sendSequences(topic, 2, 10, 10);
    await waitFor('the wait', () => counts.schemaWaits === 1);
    assert.deepEqual(consumer.waits, [
      { topic, partition: 0, for: 'schema registry', schema: 7, error: 'the registry is away' },
    ]);
    await waitFor('the other partition', async () => (await outside.committed(groupId, topic)) === 30);
    isAway = false;
    await waitFor('all records', () => bus.of(topic).length === 40);
    await waitFor('all commits', async () => (await outside.committed(groupId, topic)) === 40);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual([counts.schemaWaits, counts.poison, counts.rebuilds], [0, [], []]);
    const log = lines.join('');
    assert.equal(log.match(/a partition is paused: a record's schema or format cannot be had/g)?.length, 1);
    assert.match(log, /"schema":7,"err":{[^}]*"message":"the registry is away"/);
    assert.match(log, /no partition is paused any more: schemas and formats can be had/);
  });

  it('stops when each of the first hundred records of its topic is undecodable, and leaves them in Kafka (S-102)', async (t) => {
    const [topic, other] = [await outside.createTopic(undefined, 2), await outside.createTopic(undefined, 1)];
    const environment = { KAFKA_STALL_TIMEOUT_MS: '1000', KAFKA_FROM_BEGINNING: 'true' };
    await outside.send(topic, [...GARBAGE, { partition: 1, value: '{"key":"1","seq":0}' }]);
    const { consumer, bus, counts, groupId, lines, fatal } = createConsumer(t, outside.brokers, [topic, other], {
      environment,
      ports: { convert: (record) => (record.topic === topic ? { poison: 'not_json' } : convert(record)) },
    });
    await consumer.start();
    await waitFor('the stop', () => counts.stopped > 0);
    await outside.sendSequences(other, 1, 10);
    await waitFor('the other topic', () => bus.of(other).length === 10);
    assert.ok((await outside.committed(groupId, topic)) <= 1);
    assert.ok(counts.poison.length <= 1, `${counts.poison.length} dead letters`);
    const [stopped] = consumer.waits.filter((wait) => wait.topic === topic && wait.partition === 0);
    assert.equal(stopped?.for, 'a corrected configuration');
    assert.match(
      stopped.error!,
      /^each of the first \d+ records is undecodable \(not_json: XML\); have the producer write a JSON object, and restart/,
    );
    assert.equal(lines.filter((line) => line.includes('the topic is stopped')).length, 1);
    // The watchdog does not take a stop for a stall.
    await waitFor('the lag', () => counts.lag >= 149);
    assert.deepEqual([counts.rebuilds, fatal], [[], []]);
  });

  it('does not stop with UNDECODABLE_LIMIT=0: the records go to the dead-letter topic (twin of S-102)', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, counts, groupId } = createConsumer(t, outside.brokers, [topic], {
      environment: { UNDECODABLE_LIMIT: '0' },
    });
    await consumer.start();
    await outside.send(topic, GARBAGE);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === GARBAGE.length);
    assert.equal(counts.poison.length, GARBAGE.length);
    assert.equal(counts.stopped, 0);
  });
});
