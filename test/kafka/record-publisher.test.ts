import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusUnavailableError } from '../../src/base/errors.ts';
import { ENVIRONMENT_NAMES } from '../../src/config/setting-names.ts';
import type { KafkaRecord, PoisonRecord } from '../../src/kafka/batch.ts';
import { FlowWait } from '../../src/kafka/session/flow-wait.ts';
import { RecordPublisher } from '../../src/kafka/record-publisher.ts';
import type { RecordPublisherPorts } from '../../src/kafka/record-publisher.ts';
import { TopicStoppedError, UndecodableLimit } from '../../src/kafka/undecodable-limit.ts';
import { waitFor } from '../support/wait-for.ts';
import { FakeGateways, unlimited } from './fake-gateways.ts';
import { convert, countingObserver, readableLog, RecordingBus } from './consumer-harness.ts';

type Publish = RecordPublisherPorts['publish'];

const records = (count: number): KafkaRecord[] =>
  Array.from({ length: count }, (_, offset) => ({
    topic: 'bids',
    partition: 0,
    offset,
    timestamp: 0,
    key: null,
    value: Buffer.from(offset % 3 === 2 ? 'poison' : `{"seq":${offset}}`),
  }));

function createPublisher(bus: { readonly publish: Publish }, gateways = unlimited(), undecodableLimit = 0) {
  const { log, lines } = readableLog();
  const undecodable = new UndecodableLimit({ limit: undecodableLimit, log, names: ENVIRONMENT_NAMES });
  const flow = new FlowWait(gateways, log);
  const observer = countingObserver();
  const dead: PoisonRecord[] = [];
  const deadLetter = (poison: readonly PoisonRecord[]) => {
    dead.push(...poison);
    return Promise.resolve();
  };
  return {
    publisher: new RecordPublisher(
      { convert, publish: gateways.before(bus.publish), deadLetter, flow, undecodable },
      observer,
      log,
    ),
    observer,
    dead,
    lines,
  };
}

describe('RecordPublisher', () => {
  it('publishes each batch once, and needs no Kafka', async () => {
    const bus = new RecordingBus();
    const { publisher, observer, dead } = createPublisher(bus);
    await publisher.publish(records(30));
    assert.equal(bus.attempts, 1);
    assert.equal(observer.published, 20);
    assert.equal(observer.consumed, 30);
    assert.equal(dead.length, 10);
  });

  it('counts an undecodable record once against the limit of its topic, however often the bus refuses it', async () => {
    const bus = new RecordingBus();
    const { publisher, dead } = createPublisher(bus, unlimited(), 3);
    const [, , poison] = records(3);
    bus.isAway = true;
    for (let attempt = 0; attempt < 5; attempt++) {
      await assert.rejects(publisher.publish([poison!]), BusUnavailableError);
    }
    bus.isAway = false;
    await publisher.publish([poison!]);
    await publisher.publish([poison!]);
    await assert.rejects(publisher.publish([poison!]), TopicStoppedError);
    assert.equal(dead.length, 2);
  });

  it('reports, counts and dead-letters only chunks that the bus accepted', async () => {
    const bus = new RecordingBus();
    const accepted: number[] = [];
    const publish: Publish = async (messages, { offset }) => {
      await bus.publish(messages);
      accepted.push(offset);
      bus.isAway = true;
    };
    const { publisher, observer, dead } = createPublisher({ publish });
    await assert.rejects(publisher.publish(records(1200)), BusUnavailableError);
    // The first chunk: 1,000 records, as each is one message or one poison record.
    assert.deepEqual(accepted, [999]);
    assert.equal(observer.consumed, 1000);
    assert.equal(dead.at(-1)?.record.offset, 998);
    bus.isAway = false;
    await publisher.publish(records(1200).slice(1000));
    assert.equal(observer.consumed, 1200);
    assert.equal(bus.messages.length, 800);
  });

  describe('under flow control', () => {
    it('ends each chunk with the record that exceeds the room of the gateways, and waits while they have none', async () => {
      const gateways = new FakeGateways();
      const chunks: number[] = [];
      const publish: Publish = (_messages, { offset }) => Promise.resolve(void chunks.push(offset));
      const { publisher } = createPublisher({ publish }, gateways);
      // Two of 9 bytes.
      gateways.grant('bids', 0, 18);
      const processing = publisher.publish(records(6));
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

    it('does not wait after the last record', async () => {
      const gateways = new FakeGateways();
      const { publisher, observer } = createPublisher(new RecordingBus(), gateways);
      gateways.grant('bids', 0, 1);
      await publisher.publish(records(1));
      assert.equal(gateways.room('bids', 0).bytes, 0);
      assert.equal(observer.consumed, 1);
    });

    it('stops at a wait when the signal is aborted', async () => {
      const bus = new RecordingBus();
      const gateways = new FakeGateways();
      const { publisher } = createPublisher(bus, gateways);
      const end = new AbortController();
      const processing = publisher.publish(records(6), end.signal);
      await waitFor('the wait', () => gateways.waiting('bids', 0) === 1);
      end.abort();
      await processing;
      await publisher.publish(records(6), end.signal);
      assert.equal(gateways.waits, 1);
      assert.equal(bus.attempts, 0);
    });
  });
});
