import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { createTopics } from '../../../stack/topics.ts';
import { randomName } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { RECORD_LIMITS, createConsumer, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

const SECRET = 'do-not-log-me';

function headersOf(record: { headers?: Record<string, unknown> }): Record<string, string> {
  return Object.fromEntries(Object.entries(record.headers ?? {}).map(([name, value]) => [name, String(value)]));
}

describe('DeadLetter', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('writes every kind of poison with its position, and delivers the next record of the partition', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const poison: [reason: string, value: Buffer | null, found?: string][] = [
      ['too_large', Buffer.from(`{"text":"${SECRET}${'x'.repeat(RECORD_LIMITS.maxBytes)}"}`)],
      ['invalid_utf8', Buffer.from([0xff, 0xfe, 0x00, 0x80]), 'UTF-16'],
      ['not_json', Buffer.from(`not_json {"a": ${SECRET}`), 'plain text'],
      ['too_deep', Buffer.from('['.repeat(RECORD_LIMITS.maxDepth + 1))],
      ['not_object', Buffer.from('7'), 'a JSON number, true, false or null'],
    ];
    const { consumer, bus, counts, lines, groupId } = createConsumer(t, outside.brokers, [topic]);
    await consumer.start();
    for (const [index, [reason, value]] of poison.entries()) {
      await outside.send(topic, [
        {
          key: `key of ${reason}`,
          value,
          headers: { trace: `trace ${index}`, many: ['a', 'b'], 'crier-topic': 'mine' },
          timestamp: `${1_700_000_000_000 + index}`,
        },
        { value: JSON.stringify({ key: '0', seq: index }) },
      ]);
      await waitFor(`the record behind ${reason}`, () => bus.messages.length === index + 1);
    }
    const dead = await outside.readAll(`${groupId}-dead`, poison.length);
    for (const [index, [reason, value, found]] of poison.entries()) {
      const record = dead.find((one) => headersOf(one)['crier-reason'] === reason);
      assert.deepEqual(record?.value, value);
      assert.equal(record?.key?.toString(), `key of ${reason}`);
      assert.deepEqual(headersOf(record), {
        trace: `trace ${index}`,
        many: 'a,b',
        'crier-original-topic': 'mine',
        'crier-reason': reason,
        ...(found !== undefined && { 'crier-found': found }),
        'crier-topic': topic,
        'crier-partition': '0',
        'crier-offset': `${index * 2}`,
        'crier-timestamp': `${1_700_000_000_000 + index}`,
        'crier-value-bytes': `${value?.length ?? 0}`,
        'crier-value-sha256': createHash('sha256')
          .update(value ?? '')
          .digest('hex'),
      });
    }
    assert.deepEqual(
      counts.poison,
      poison.map(([reason]) => reason),
    );
    assert.equal(counts.deadLetterFailures, 0);
    const warnings = lines.filter((line) => line.includes('poison record not published'));
    assert.equal(warnings.length, poison.length);
    assert.match(warnings.join(''), /"reason":"not_json","found":"plain text","bytes":\d+/);
    assert.match(warnings[0]!, new RegExp(`"deadLetterTopic":"${groupId}-dead".*; crier dead-letters list shows it"`));
    assert.ok(!lines.join('').includes(SECRET), 'no payload in the log');
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === poison.length * 2);
  });

  it('omits a value that does not fit, and marks it as omitted', async (t) => {
    const topic = randomName('topic');
    const configEntries = [{ name: 'max.message.bytes', value: '3000000' }];
    await createTopics(outside.brokers, [{ topic, numPartitions: 1, configEntries }]);
    const { consumer, bus, counts, groupId } = createConsumer(t, outside.brokers, [topic]);
    await consumer.start();
    const large = Buffer.alloc(2_000_000, 'x');
    await outside.send(topic, [{ key: 'large', value: large }]);
    await outside.send(topic, [{ value: '{}' }]);
    await waitFor('the next record', () => bus.messages.length === 1);
    const [dead] = await outside.readAll(`${groupId}-dead`, 1);
    assert.equal(dead?.value, null);
    assert.equal(dead.key?.toString(), 'large');
    const headers = headersOf(dead);
    assert.equal(headers['crier-value-omitted'], 'true');
    assert.equal(headers['crier-value-bytes'], '2000000');
    assert.equal(headers['crier-value-sha256'], createHash('sha256').update(large).digest('hex'));
    assert.equal(counts.deadLetterFailures, 0);
  });

  it('writes poison records that exceed one batch', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const environment = { UNDECODABLE_LIMIT: '0' };
    const { consumer, counts, groupId, lines } = createConsumer(t, outside.brokers, [topic], { environment });
    await consumer.start();
    const began = performance.now();
    for (let i = 0; i < 5; i++) {
      await outside.send(
        topic,
        Array.from({ length: 500 }, () => ({ value: 'x'.repeat(1500) })),
      );
    }
    await waitFor('all records', () => counts.consumed === 2500, 30_000);
    assert.equal((await outside.readAll(`${groupId}-dead`, 2500)).length, 2500);
    const logged = lines.filter((line) => line.includes('poison record not published')).length;
    assert.ok(logged >= 1 && logged <= 1 + (performance.now() - began) / 10_000, `${logged} lines: once per window`);
    assert.equal(counts.deadLetterFailures, 0);
  });

  it('drops, logs and counts records that cannot be written with DEAD_LETTER=DROP, and reads on', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, bus, counts, lines, groupId } = createConsumer(t, outside.brokers, [topic], {
      // No topic may be called so: it can neither be created nor written to.
      environment: { KAFKA_DEAD_LETTER_TOPIC: 'not a topic name', DEAD_LETTER: 'DROP' },
    });
    await consumer.start();
    await outside.send(topic, [{ value: SECRET }, { value: '{}' }]);
    await waitFor('the next record', () => bus.messages.length === 1, 20_000);
    await waitFor('the dead-letter failure', () => counts.deadLetterFailures === 1);
    const line = lines.find((one) => one.includes('poison records are dropped'));
    assert.match(line ?? '', new RegExp(`"topic":"${topic}","partition":0,"offset":"0","reason":"not_json"`));
    assert.ok(!lines.join('').includes(SECRET), 'no payload in the log');
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 2);
  });

  it('pauses a partition until its poison is written, without stopping the others or losing the session', async (t) => {
    const topic = await outside.createTopic(undefined, 2);
    const { consumer, bus, counts, lines, groupId } = createConsumer(t, outside.brokers, [topic]);
    const deadTopic = await outside.createTopic(`${groupId}-dead`, 1);
    // Not even a record without its body.
    await outside.limitMessages(deadTopic, 1);
    await consumer.start();
    await outside.send(topic, [
      { partition: 0, value: '{"key":"0","seq":0}' },
      { partition: 0, key: 'poison', value: SECRET, headers: { trace: 'x' } },
      { partition: 0, value: '{"key":"0","seq":1}' },
    ]);
    await waitFor('the waiting partition', () => counts.waiting === 1);
    assert.deepEqual(consumer.waits, [{ topic, partition: 0, for: 'dead-letter topic' }]);
    await waitFor(
      'the commit of the records before the poison',
      async () => (await outside.committed(groupId, topic)) === 1,
    );
    // Longer than the session of 6 s.
    const began = performance.now();
    for (let seq = 0; performance.now() - began < 8000; seq++) {
      await outside.send(topic, [{ partition: 1, value: JSON.stringify({ key: '1', seq }) }]);
      await waitFor('the other partition', () => bus.of(topic).some(({ key, seq: one }) => key === '1' && one === seq));
    }
    assert.equal(counts.waiting, 1);
    await outside.send(topic, [{ partition: 0, value: '{"key":"0","seq":2}' }]);
    await outside.limitMessages(deadTopic, 1_000_000);
    await waitFor('the end of the wait', () => counts.waiting === 0);
    await waitFor('the last record', () => bus.of(topic).some(({ key, seq }) => key === '0' && seq === 2));
    assert.deepEqual(
      bus
        .of(topic)
        .filter(({ key }) => key === '0')
        .map(({ seq }) => seq),
      [0, 1, 2],
    );
    const [dead, ...others] = await outside.readAll(deadTopic, 1);
    assert.equal(dead?.value?.toString(), SECRET);
    assert.equal(dead.key?.toString(), 'poison');
    assert.equal(headersOf(dead)['trace'], 'x');
    assert.equal(headersOf(dead)['crier-offset'], '1');
    assert.equal(others.length, 0);
    assert.deepEqual(counts.rebuilds, []);
    assert.equal(lines.filter((line) => line.includes('joined the consumer group')).length, 1);
    assert.equal(lines.filter((line) => line.includes('the partition of the poison records waits')).length, 1);
    assert.equal(counts.deadLetterFailures, 0);
    assert.deepEqual(consumer.waits, []);
  });

  it('leaves unwritten poison uncommitted for the next member', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const groupId = randomName('group');
    const first = createConsumer(t, outside.brokers, [topic], { groupId });
    const deadTopic = await outside.createTopic(`${groupId}-dead`, 1);
    await outside.limitMessages(deadTopic, 1);
    await first.consumer.start();
    await outside.send(topic, [{ value: '{}' }, { value: SECRET }, { value: '{}' }]);
    await waitFor('the waiting partition', () => first.counts.waiting === 1);
    await first.consumer.close();
    assert.equal(await outside.committed(groupId, topic), 1);
    await outside.limitMessages(deadTopic, 1_000_000);
    const second = createConsumer(t, outside.brokers, [topic], { groupId });
    await second.consumer.start();
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 3, 20_000);
    const [dead] = await outside.readAll(deadTopic, 1);
    assert.equal(headersOf(dead!)['crier-offset'], '1');
  });

  it('creates the topic again after it was deleted', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, bus, groupId } = createConsumer(t, outside.brokers, [topic]);
    await consumer.start();
    const deadTopic = `${groupId}-dead`;
    await outside.deleteTopic(deadTopic);
    await outside.send(topic, [{ value: SECRET }, { value: '{}' }]);
    await waitFor('the next record', () => bus.messages.length === 1, 20_000);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 2, 20_000);
    assert.equal((await outside.readAll(deadTopic, 1))[0]?.value?.toString(), SECRET);
  });

  it('omits only the parts that exceed the limit of the topic', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, groupId } = createConsumer(t, outside.brokers, [topic]);
    const deadTopic = await outside.createTopic(`${groupId}-dead`, 1);
    await outside.limitMessages(deadTopic, 2000);
    await consumer.start();
    await outside.send(topic, [
      { key: 'small', value: 'x' },
      { key: 'large', value: 'x'.repeat(3000), headers: { trace: 'x' } },
    ]);
    const dead = await outside.readAll(deadTopic, 2);
    assert.equal(dead[0]?.value?.toString(), 'x');
    assert.equal(dead[1]?.value, null);
    const { 'crier-value-omitted': value, 'crier-key-omitted': key, trace } = headersOf(dead[1]);
    assert.deepEqual([value, key, trace], ['true', 'true', undefined]);
  });
});
