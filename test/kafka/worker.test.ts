import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError } from '../../src/errors.ts';
import type { KafkaRecord, PoisonRecord } from '../../src/kafka/batch.ts';
import { Worker } from '../../src/kafka/worker.ts';
import type { PublishedChunk } from '../../src/kafka/worker.ts';
import { convert, countingObserver, readableLog, RecordingBus } from './consumer-harness.ts';

const records = (count: number): KafkaRecord[] =>
  Array.from({ length: count }, (_, offset) => ({
    topic: 'bids',
    partition: 0,
    offset: `${offset}`,
    timestamp: '0',
    key: null,
    value: Buffer.from(offset % 3 === 2 ? 'poison' : `{"seq":${offset}}`),
  }));

function createWorker(bus: RecordingBus) {
  const { log, lines } = readableLog();
  const observer = countingObserver();
  const dead: PoisonRecord[] = [];
  const deadLetter = (poison: readonly PoisonRecord[]) => {
    dead.push(...poison);
    return Promise.resolve();
  };
  return {
    worker: new Worker({ convert, publish: bus.publish, deadLetter }, observer, log),
    observer,
    dead,
    lines,
  };
}

describe('Worker', () => {
  it('publishes once per batch and needs no Kafka', async () => {
    const bus = new RecordingBus();
    const { worker, observer, dead } = createWorker(bus);
    await worker.process(records(30));
    assert.equal(bus.attempts, 1);
    assert.equal(observer.published, 20);
    assert.equal(observer.consumed, 30);
    assert.equal(dead.length, 10);
  });

  it('reports as accepted only what the bus took, and neither dead-letters nor counts the rest', async () => {
    const bus = new RecordingBus();
    const { worker, observer, dead } = createWorker(bus);
    const accepted: string[] = [];
    const onPublished = ({ last: { offset } }: PublishedChunk) => {
      accepted.push(offset);
      bus.isAway = true;
      return Promise.resolve(true);
    };
    await assert.rejects(worker.process(records(1200), { onPublished }), BusUnavailableError);
    // The first chunk: 1,000 records, as each is one message or one poison record.
    assert.deepEqual(accepted, ['999']);
    assert.equal(observer.consumed, 1000);
    assert.equal(dead.at(-1)?.record.offset, '998');
    bus.isAway = false;
    await worker.process(records(1200).slice(1000));
    assert.equal(observer.consumed, 1200);
    assert.equal(bus.messages.length, 800);
  });

  it('ends where it is told to', async () => {
    const bus = new RecordingBus();
    const { worker, observer } = createWorker(bus);
    await worker.process(records(5000), { onPublished: () => Promise.resolve(false) });
    assert.equal(observer.consumed, 1000);
  });
});
