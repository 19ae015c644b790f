import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError } from '../../src/errors.ts';
import type { KafkaRecord, PoisonRecord } from '../../src/kafka/batch.ts';
import { FlowWait } from '../../src/kafka/session/flow-wait.ts';
import { Worker } from '../../src/kafka/record-publisher.ts';
import type { PublishedChunk } from '../../src/kafka/record-publisher.ts';
import { waitFor } from '../support/wait-for.ts';
import { FakeGateways, unlimited } from './fake-gateways.ts';
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

function createWorker(bus: RecordingBus, gateways = unlimited()) {
  const { log, lines } = readableLog();
  const flow = new FlowWait(gateways, log);
  const observer = countingObserver();
  const dead: PoisonRecord[] = [];
  const deadLetter = (poison: readonly PoisonRecord[]) => {
    dead.push(...poison);
    return Promise.resolve();
  };
  return {
    worker: new Worker({ convert, publish: gateways.before(bus.publish), deadLetter, flow }, observer, log),
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

  describe('before gateways', () => {
    it('publishes no more than they have room for, but one record, and waits where they have none', async () => {
      const bus = new RecordingBus();
      const gateways = new FakeGateways();
      const { worker } = createWorker(bus, gateways);
      const chunks: number[] = [];
      const onPublished = ({ last: { offset } }: PublishedChunk) => {
        chunks.push(Number(offset));
        return Promise.resolve(true);
      };
      // Two of 9 bytes.
      gateways.grant('bids', 0, 18);
      const processing = worker.process(records(6), { onPublished });
      await waitFor('the wait', () => gateways.waiting('bids', 0) === 1);
      assert.deepEqual(chunks, [1]);
      // The third is poison, and takes nothing.
      gateways.grant('bids', 0, 1);
      await waitFor('the next wait', () => chunks.length === 3 && gateways.waiting('bids', 0) === 1);
      assert.deepEqual(chunks, [1, 2, 3]);
      gateways.grant('bids', 0, 1_000_000);
      await processing;
      assert.deepEqual(chunks, [1, 2, 3, 5]);
    });

    it('does not wait behind the last record', async () => {
      const gateways = new FakeGateways();
      const { worker, observer } = createWorker(new RecordingBus(), gateways);
      gateways.grant('bids', 0, 1);
      await worker.process(records(1));
      assert.equal(gateways.room('bids', 0).bytes, 0);
      assert.equal(observer.consumed, 1);
    });

    it('ends at a wait whose signal is aborted, or that is not to be', async () => {
      const bus = new RecordingBus();
      const gateways = new FakeGateways();
      const { worker } = createWorker(bus, gateways);
      const end = new AbortController();
      const processing = worker.process(records(6), { signal: end.signal });
      await waitFor('the wait', () => gateways.waiting('bids', 0) === 1);
      end.abort();
      await processing;
      await worker.process(records(6), { signal: end.signal });
      await worker.process(records(6), { onLimited: () => false });
      assert.equal(gateways.waits, 1);
      assert.equal(bus.attempts, 0);
    });
  });

  it('ends where it is told to', async () => {
    const bus = new RecordingBus();
    const { worker, observer } = createWorker(bus);
    await worker.process(records(5000), { onPublished: () => Promise.resolve(false) });
    assert.equal(observer.consumed, 1000);
  });
});
