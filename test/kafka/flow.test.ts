import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { FencedError } from '../../src/base/errors.ts';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, orderBreak, RecordingBus, withOutside } from './consumer-harness.ts';
import type { Outside } from './consumer-harness.ts';
import { FakeGateways } from './fake-gateways.ts';

/** More than a partition's records of a test. */
const PLENTY = 1_000_000_000;

describe('KafkaConsumer while gateways lag', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** A consumer of a topic of which partitions have no room until they are granted some. */
  async function createStage(t: TestContext, partitions: number, options: Parameters<typeof createConsumer>[3] = {}) {
    const topic = await outside.createTopic(undefined, partitions);
    const { gateways = new FakeGateways() } = options;
    const setup = createConsumer(t, outside.brokers, [topic], { ...options, gateways });
    await setup.consumer.start();
    const waiting = (partition: number) =>
      waitFor(`partition ${partition} to wait`, () => gateways.waiting(topic, partition) > 0);
    const of = (partition: number) => setup.bus.of(topic).filter(({ key }) => key === `${partition}`);
    return { topic, gateways, ...setup, waiting, of };
  }

  it('keeps reading the other partitions while more partitions wait than kafkajs has concurrent batches', async (t) => {
    // More than kafkajs runs at a time, and than Node expects to listen to one signal.
    const LIMITED = 11;
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    t.after(() => process.off('warning', onWarning));
    const { topic, gateways, bus, counts, waiting, of } = await createStage(t, LIMITED + 1);
    gateways.grant(topic, LIMITED, PLENTY);
    await outside.sendSequences(topic, LIMITED + 1, 5);
    for (let partition = 0; partition < LIMITED; partition++) await waiting(partition);
    await outside.sendSequences(topic, LIMITED + 1, 5, 5);
    await waitFor('the partition with room', () => of(LIMITED).length === 10);
    assert.equal(bus.messages.length, 10);
    for (let partition = 0; partition < LIMITED; partition++) gateways.grant(topic, partition, PLENTY);
    await waitFor('every message of the other partitions', () => bus.messages.length === 10 * (LIMITED + 1));
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual(counts.rebuilds, []);
    assert.deepEqual(warnings, []);
  });

  it('publishes each record once and in order over many waits, and commits only published records', async (t) => {
    const { topic, gateways, bus, groupId } = await createStage(t, 2);
    await outside.sendSequences(topic, 2, 300);
    let committed = 0;
    for (let grants = 0; bus.messages.length < 600; grants++) {
      for (const partition of [0, 1]) if (gateways.waiting(topic, partition) > 0) gateways.grant(topic, partition, 500);
      if (grants % 20 === 0) committed = await outside.committed(groupId, topic);
      assert.ok(committed <= bus.messages.length);
      await waitFor(
        'a wait',
        () => bus.messages.length >= 600 || gateways.waiting(topic, 0) + gateways.waiting(topic, 1) > 0,
      );
    }
    assert.ok(gateways.waits > 20, `${gateways.waits} waits`);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 600);
    // What comes after the waits.
    await outside.sendSequences(topic, 2, 1, 300);
    gateways.grant(topic, 0, PLENTY);
    gateways.grant(topic, 1, PLENTY);
    await waitFor('the last message', () => bus.messages.length === 602);
  });

  it('commits the published part of a batch that waits', async (t) => {
    const { topic, gateways, bus, groupId, waiting } = await createStage(t, 1);
    await outside.sendSequences(topic, 1, 10);
    await waiting(0);
    gateways.grant(topic, 0, 50);
    await waitFor('the first messages', () => bus.messages.length > 0);
    await waiting(0);
    const published = bus.messages.length;
    assert.ok(published < 10);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === published);
  });

  it('does not count a waiting partition as stalled, and names it in `waits`', async (t) => {
    let looks = 0;
    const environment = { KAFKA_STALL_TIMEOUT_MS: '1000' };
    const { topic, consumer, counts, bus, gateways, waiting } = await createStage(t, 1, { environment });
    counts.onPositions = ([position]) => {
      looks++;
      counts.lag = Number(position!.end - position!.position);
    };
    await outside.sendSequences(topic, 1, 10);
    await waiting(0);
    const before = looks;
    // Every 250 ms.
    await waitFor('looks for twice the time of a stall', () => looks > before + 8);
    assert.deepEqual(consumer.waits, [{ topic, partition: 0, gateway: 'slow', for: 'gateways' }]);
    assert.equal(counts.lag, 10);
    assert.deepEqual(counts.rebuilds, []);
    gateways.grant(topic, 0, PLENTY);
    await waitFor('every message', () => bus.messages.length === 10);
  });

  it('fetches dropped records again once the gateways have room, and reads the other partitions meanwhile', async (t) => {
    const LIMITED = 4;
    const environment = { MAX_INFLIGHT_BYTES: `${2 ** 20}`, MAX_INFLATED_BATCH_BYTES: `${2 ** 20}` };
    const { topic, gateways, bus, counts, waiting, of } = await createStage(t, LIMITED + 1, { environment });
    gateways.grant(topic, LIMITED, PLENTY);
    // 420 KB each: half of the bound is enough for one.
    await outside.sendSequences(topic, LIMITED + 1, 1000);
    for (let partition = 0; partition < LIMITED; partition++) await waiting(partition);
    await waitFor('the partition with room', () => of(LIMITED).length === 1000);
    for (let partition = 0; partition < LIMITED; partition++) gateways.grant(topic, partition, PLENTY);
    await waitFor('every message of the other partitions', () => bus.messages.length >= 1000 * (LIMITED + 1));
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual(counts.rebuilds, []);
  });

  it('closes while a partition waits; the next member continues after the last published record', async (t) => {
    const { topic, gateways, bus, consumer, groupId, waiting } = await createStage(t, 1);
    await outside.sendSequences(topic, 1, 10);
    await waiting(0);
    gateways.grant(topic, 0, 50);
    await waitFor('the first messages', () => bus.messages.length > 0);
    await waiting(0);
    await consumer.close();
    assert.equal(gateways.waiting(topic, 0), 0);
    const published = bus.messages.length;
    assert.ok(published > 0 && published < 10);
    assert.equal(await outside.committed(groupId, topic), published);
    const next = createConsumer(t, outside.brokers, [topic], { groupId, bus });
    await next.consumer.start();
    await waitFor('all messages', () => bus.messages.length >= 10);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.equal(bus.messages.length, 10);
  });

  it('hands over waiting partitions in a rebalance, exactly after the last published record', async (t) => {
    const PARTITIONS = 4;
    const { topic, gateways, bus, counts, groupId, waiting } = await createStage(t, PARTITIONS);
    await outside.sendSequences(topic, PARTITIONS, 50);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      await waiting(partition);
      gateways.grant(topic, partition, 100);
    }
    await waitFor('the first messages of every partition', () => bus.messages.length >= 4 * PARTITIONS);
    for (let partition = 0; partition < PARTITIONS; partition++) await waiting(partition);
    const before = bus.messages.length;
    const second = createConsumer(t, outside.brokers, [topic], { groupId, bus, gateways });
    await second.consumer.start();
    for (let partition = 0; partition < PARTITIONS; partition++) await waiting(partition);
    assert.equal(bus.messages.length, before);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      assert.equal(gateways.waiting(topic, partition), 1, 'one of them has it');
      gateways.grant(topic, partition, PLENTY);
    }
    await waitFor('all messages', () => bus.messages.length >= 50 * PARTITIONS);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.ok(second.counts.published > 0 && counts.published > before, 'both go on');
    assert.deepEqual([...counts.rebuilds, ...second.counts.rebuilds], []);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 50 * PARTITIONS);
    assert.equal(bus.messages.length, 50 * PARTITIONS);
  });

  it('loses no record when the bus goes down during a detached batch', async (t) => {
    const { topic, gateways, bus, counts, waiting } = await createStage(t, 2);
    gateways.grant(topic, 1, PLENTY);
    await outside.sendSequences(topic, 2, 10);
    await waiting(0);
    bus.isAway = true;
    gateways.grant(topic, 0, PLENTY);
    await waitFor('the pause', () => counts.paused > 0);
    bus.isAway = false;
    await waitFor('every message', () => bus.messages.length >= 20);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.equal(bus.messages.length, 20);
    assert.equal(counts.paused, 0);
    assert.deepEqual(counts.rebuilds, []);
  });

  it('leases the partition again when the bus fences a detached batch', async (t) => {
    const bus = new RecordingBus();
    const gateways = new FakeGateways();
    let refusals = 0;
    const publish = gateways.before((messages) =>
      gateways.waits > 0 && refusals++ < 2 ? Promise.reject(new FencedError('another')) : bus.publish(messages),
    );
    const { topic, counts, waiting } = await createStage(t, 1, { bus, gateways, ports: { publish } });
    await outside.sendSequences(topic, 1, 10);
    await waiting(0);
    gateways.grant(topic, 0, PLENTY);
    await waitFor('every message', () => bus.messages.length >= 10);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.equal(bus.leases.length, 3);
    assert.deepEqual(counts.rebuilds, []);
  });

  it('rebuilds the consumer when a detached batch fails', async (t) => {
    const bus = new RecordingBus();
    const gateways = new FakeGateways();
    let hasFailed = false;
    const publish = gateways.before((messages) => {
      if (hasFailed) return bus.publish(messages);
      hasFailed = true;
      return Promise.reject(new TypeError('broken'));
    });
    const { topic, counts, waiting } = await createStage(t, 1, { bus, gateways, ports: { publish } });
    await outside.sendSequences(topic, 1, 10);
    await waiting(0);
    gateways.grant(topic, 0, PLENTY);
    await waitFor('every message', () => bus.messages.length >= 10, 20_000);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual(counts.rebuilds, ['crashed']);
  });
});
