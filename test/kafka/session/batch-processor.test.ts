import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Batch } from '../../../src/kafka/client/group-consumer.ts';
import type { FetchedRecord } from '../../../src/kafka/client/fetching/record-batch.ts';
import { RecordPublisher } from '../../../src/kafka/record-publisher.ts';
import { BatchProcessor } from '../../../src/kafka/session/batch-processor.ts';
import { Commits } from '../../../src/kafka/session/commits.ts';
import { Detachment } from '../../../src/kafka/session/detachment.ts';
import { FlowWait } from '../../../src/kafka/session/flow-wait.ts';
import { Ownership } from '../../../src/kafka/session/ownership.ts';
import { PartitionLeases } from '../../../src/kafka/session/partition-leases.ts';
import { PartitionWaits } from '../../../src/kafka/session/partition-waits.ts';
import { convert, countingObserver, readableLog, RecordingBus } from '../consumer-harness.ts';
import { FakeGateways, unlimited } from '../fake-gateways.ts';

const done = () => Promise.resolve();

/** A batch of records, more than one chunk. */
const records = Array.from({ length: 1200 }, (_, i) => {
  return { offset: i, timestamp: 0, key: null, value: Buffer.from(`{"seq":${i}}`) };
}) as unknown as FetchedRecord[];

function createStage(t: TestContext, gateways: FakeGateways) {
  const { log } = readableLog();
  const flow = new FlowWait(gateways, log);
  const bus = new RecordingBus();
  const leases = new PartitionLeases(bus.acquire);
  const noop = () => undefined;
  const waits = new PartitionWaits({ flow, log, observer: countingObserver() });
  const consumer = { pause: noop, resume: noop, heartbeat: done, joining: undefined, commitResolved: done };
  const commits = new Commits(consumer, leases, log, noop);
  const accepted: number[] = [];
  const state = { isClosing: false, isBudgetFull: false };
  const processor = new BatchProcessor({
    consumer,
    publisher: new RecordPublisher({ convert, publish: bus.publish, deadLetter: done, flow }, countingObserver(), log),
    leases,
    commits,
    waits,
    log,
    isClosing: () => state.isClosing,
    isConfirmedMember: () => true,
    onAccepted: (_topic, _partition, position) => accepted.push(position),
  });
  t.after(() => flow.close());
  t.after(() => waits.close());
  const batch: Batch = {
    topic: 'bids',
    partition: 0,
    records,
    lastOffset: 1199,
    resolve: noop,
    isRunning: () => true,
    isStale: () => false,
  };
  const ownership = Object.assign(new Ownership(), { isPositioned: true });
  const detachment = new Detachment({ hold: () => !state.isBudgetFull }, 'bids/0');
  const process = () => processor.process(batch, ownership, detachment);
  return { process, state, bus, gateways, accepted, detachment, ownership };
}

describe('BatchProcessor', () => {
  it('publishes and accepts a batch chunk by chunk', async (t) => {
    const { process, bus, accepted, detachment } = createStage(t, unlimited());
    await process();
    assert.deepEqual([bus.attempts, bus.messages.length, accepted], [2, 1200, [1000, 1200]]);
    assert.equal(detachment.isDetached, false);
  });

  it('accepts the chunk that is under way when it closes, and publishes no other', async (t) => {
    const { process, state, bus, accepted } = createStage(t, unlimited());
    const processing = process();
    while (bus.attempts === 0) await done();
    state.isClosing = true;
    await processing;
    assert.deepEqual([bus.attempts, accepted], [1, [1000]]);
  });

  it('drops a batch that waits for gateways if the budget has no room to keep its records', async (t) => {
    const { process, state, bus, gateways, detachment } = createStage(t, new FakeGateways());
    state.isBudgetFull = true;
    await process();
    assert.deepEqual([bus.attempts, gateways.waits, detachment.isDropped], [0, 0, true]);
  });

  it('detaches a batch that waits for gateways, and publishes it when they have room', async (t) => {
    const { process, bus, gateways, detachment } = createStage(t, new FakeGateways());
    const processing = process();
    await detachment.happened;
    assert.equal(bus.attempts, 0);
    gateways.grant('bids', 0, 1_000_000);
    await processing;
    assert.equal(bus.messages.length, 1200);
  });

  it('ends when the ownership ends during a wait for gateways', async (t) => {
    const { process, bus, ownership, detachment } = createStage(t, new FakeGateways());
    const processing = process();
    await detachment.happened;
    ownership.end();
    await processing;
    assert.equal(bus.attempts, 0);
  });
});
