import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { salvaging, undecodableReason } from '../../src/kafka/undecodable-batch.ts';
import { kafkaBrokers } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, Outside } from './consumer-harness.ts';

describe('a batch that cannot be inflated', () => {
  let broker: string;
  let outside: Outside;
  const stops: (() => Promise<void>)[] = [];
  const { CompressionCodecs, CompressionTypes } = kafkajs;
  const original = CompressionCodecs[CompressionTypes.GZIP];
  const failing = {
    compress: (encoder: { readonly buffer: Buffer }) => Promise.resolve(gzipSync(encoder.buffer)),
    decompress: () => Promise.reject(Object.assign(new Error('too large'), { code: 'ERR_BATCH_TOO_LARGE' })),
  };

  before(async () => {
    broker = await kafkaBrokers({ after: (fn) => stops.push(fn) });
    outside = new Outside(broker);
    await outside.connect();
  });

  after(async () => {
    CompressionCodecs[CompressionTypes.GZIP] = original;
    await outside.close();
    for (const stop of stops) await stop();
  });

  async function sendAround(topic: string): Promise<void> {
    await outside.send(topic, [{ value: '{"seq":0}' }]);
    await outside.send(topic, [{ value: '{"seq":1}' }, { value: '{"seq":2}' }, { value: '{"seq":3}' }], true);
    await outside.send(topic, [{ value: '{"seq":4}' }]);
  }

  it('is poison, record by record, and the next batch of the partition is delivered', async (t) => {
    CompressionCodecs[CompressionTypes.GZIP] = () => salvaging(failing);
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, bus, counts, groupId } = createConsumer(t, broker, [topic]);
    await consumer.start();
    await sendAround(topic);
    await waitFor('the batch behind', () => bus.messages.length === 2);
    assert.deepEqual(
      bus.of(topic).map(({ seq }) => seq),
      [0, 4],
    );
    assert.deepEqual(counts.poison, ['batch_too_large', 'batch_too_large', 'batch_too_large']);
    const dead = await outside.readAll(`${groupId}-dead`, 3);
    assert.deepEqual(dead.map(({ headers }) => String(headers?.['crier-offset'])).sort(), ['1', '2', '3']);
    for (const { headers } of dead) {
      assert.equal(String(headers?.['crier-value-omitted']), 'true');
      assert.equal(undecodableReason(headers), undefined, 'the mark does not leave the process');
    }
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 5);
  });

  it('holds up its partition without that, though neither silently nor uncounted', async (t) => {
    CompressionCodecs[CompressionTypes.GZIP] = () => failing;
    const topic = await outside.createTopic(undefined, 1);
    const { consumer, bus, counts, lines } = createConsumer(t, broker, [topic]);
    await consumer.start();
    await sendAround(topic);
    await waitFor('a rebuild', () => counts.rebuilds.includes('crashed'), 30_000);
    assert.ok(lines.some((line) => line.includes('too large')));
    assert.ok(
      bus.of(topic).every(({ seq }) => seq === 0),
      'what stands behind it never comes',
    );
  });
});
