import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import type { PartitionLease } from '../../src/bus/publisher.ts';
import { MemoryTopics } from '../../src/bus/memory/memory-topics.ts';
import type { StateFills } from '../../src/bus/state-fill.ts';
import { BusUnavailableError } from '../../src/base/errors.ts';
import type { KafkaConsumer } from '../../src/kafka/consumer.ts';
import { observeConsumer } from '../../src/kafka/kafka-metrics.ts';
import { Metrics } from '../../src/ops/metrics/metrics.ts';
import { MetricValues } from '../../src/ops/live/metric-values.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, orderBreak, RecordingBus, withOutside } from './consumer-harness.ts';
import type { Outside } from './consumer-harness.ts';

/** The value of `crier_transaction_waiting_partitions`. */
function waitingFor(consumer: KafkaConsumer): Promise<number | null> {
  const metrics = new Metrics();
  observeConsumer(metrics, consumer);
  return new MetricValues(metrics.registry).sum('crier_transaction_waiting_partitions');
}

describe('KafkaConsumer', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('delivers 3 topics of 4 partitions in partition order, and commits what it published', async (t) => {
    const topics = await Promise.all([outside.createTopic(), outside.createTopic(), outside.createTopic()]);
    const { consumer, bus, counts, groupId } = createConsumer(t, outside.brokers, topics);
    await consumer.start();
    assert.equal(consumer.isConnected, true);
    for (const topic of topics) await outside.sendSequences(topic, 4, 300);
    await waitFor('every message', () => bus.messages.length >= 3600, 20_000);
    for (const topic of topics) {
      assert.equal(bus.of(topic).length, 1200);
      assert.equal(orderBreak(bus.of(topic)), undefined);
      await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 1200);
    }
    assert.equal(counts.consumed, 3600);
    assert.equal(counts.published, 3600);
    assert.deepEqual(counts.rebuilds, []);
  });

  it('starts a new group at the end, and at the oldest record with KAFKA_FROM_BEGINNING', async (t) => {
    const topic = await outside.createTopic();
    await outside.sendSequences(topic, 4, 5);
    const latest = createConsumer(t, outside.brokers, [topic]);
    const oldest = createConsumer(t, outside.brokers, [topic], { environment: { KAFKA_FROM_BEGINNING: 'true' } });
    await Promise.all([latest.consumer.start(), oldest.consumer.start()]);
    await outside.sendSequences(topic, 4, 5, 5);
    await waitFor('all messages', () => oldest.bus.messages.length >= 40);
    await waitFor('the newer messages', () => latest.bus.messages.length >= 20);
    assert.equal(orderBreak(oldest.bus.of(topic)), undefined);
    assert.deepEqual(new Set(latest.bus.of(topic).map(({ seq }) => seq)), new Set([5, 6, 7, 8, 9]));
    assert.equal(latest.bus.messages.length, 20);
  });

  it('loses no record produced between the joins of a new group’s first two members', async (t) => {
    const topic = await outside.createTopic();
    const groupId = randomName('group');
    await outside.sendSequences(topic, 4, 5, -5);
    const first = createConsumer(t, outside.brokers, [topic], { groupId });
    // Nothing gets through, so nothing but the start offsets is committed when the partitions move.
    first.bus.isAway = true;
    await first.consumer.start();
    // Whoever gets the partitions next starts there, however the first member ends.
    assert.equal(await outside.committed(groupId, topic), 20);
    await outside.sendSequences(topic, 4, 10);
    const second = createConsumer(t, outside.brokers, [topic], { groupId });
    const joined = second.consumer.start();
    await outside.sendSequences(topic, 4, 10, 10);
    await joined;
    first.bus.isAway = false;
    await waitFor('every message', () => first.bus.messages.length + second.bus.messages.length >= 80, 20_000);
    const all = [...first.bus.of(topic), ...second.bus.of(topic)];
    assert.equal(orderBreak(all, true), undefined);
    assert.ok(
      all.every(({ seq }) => seq >= 0),
      'nothing from before the group',
    );
    assert.ok(second.bus.messages.length >= 40, 'the second member has two partitions');
  });

  it('shares the partitions of a group between its members', async (t) => {
    const topic = await outside.createTopic();
    const groupId = randomName('group');
    const members = [
      createConsumer(t, outside.brokers, [topic], { groupId }),
      createConsumer(t, outside.brokers, [topic], { groupId }),
    ] as const;
    await Promise.all(members.map(({ consumer }) => consumer.start()));
    const delivered = () => members.reduce((sum, { bus }) => sum + bus.messages.length, 0);
    for (let sent = 4; members.some(({ bus }) => bus.messages.length === 0); sent += 4) {
      await outside.sendSequences(topic, 4, 1);
      await waitFor('the records sent so far', () => delivered() >= sent);
    }
    for (const { bus } of members) bus.messages.length = 0;
    await outside.sendSequences(topic, 4, 100);
    await waitFor('every message', () => delivered() >= 400);
    assert.equal(members[0].bus.messages.length, 200);
    assert.equal(members[1].bus.messages.length, 200);
  });

  it('publishes uncommitted records again after a member is killed', async (t) => {
    const topic = await outside.createTopic();
    const groupId = randomName('group');
    const bus = new RecordingBus();
    const first = createConsumer(t, outside.brokers, [topic], { groupId, bus });
    await first.consumer.start();
    bus.isHanging = true;
    await outside.sendSequences(topic, 4, 10);
    await waitFor('a publish under way', () => bus.attempts > 0);
    // Its publishes never end, so it can neither commit nor leave in order: as good as killed.
    await first.consumer.close();
    assert.equal(await outside.committed(groupId, topic), 0);
    const second = createConsumer(t, outside.brokers, [topic], { groupId });
    await second.consumer.start();
    await waitFor('every message', () => second.bus.messages.length >= 40, 30_000);
    assert.equal(orderBreak(second.bus.of(topic)), undefined);
  });

  it('pauses without commits while the bus is down, stays in the group, and delivers everything in order after recovery', async (t) => {
    const topic = await outside.createTopic();
    const { consumer, bus, counts, groupId, lines } = createConsumer(t, outside.brokers, [topic]);
    await consumer.start();
    // So that all partitions are leased.
    await outside.sendSequences(topic, 4, 1);
    await waitFor('the first commit', async () => (await outside.committed(groupId, topic)) === 4);
    bus.isAway = true;
    await outside.sendSequences(topic, 4, 49, 1);
    await waitFor('four paused partitions', () => counts.paused === 4);
    const attempts = bus.attempts;
    // Longer than the session of 6 s: without heartbeats the member would be thrown out.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    const more = bus.attempts - attempts;
    assert.ok(more >= 4 && more <= 4 * 12, `${more} attempts in 7 s`);
    assert.equal(await outside.committed(groupId, topic), 4);
    assert.equal(lines.filter((line) => line.includes('joined the consumer group')).length, 1);
    bus.isAway = false;
    await waitFor('every message', () => bus.messages.length >= 200);
    assert.equal(bus.messages.length, 200);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 200);
    assert.equal(counts.paused, 0);
    assert.deepEqual(counts.rebuilds, []);
    assert.equal(lines.filter((line) => line.includes('joined the consumer group')).length, 1);
  });

  describe('of a worker with states, during an outage of the bus', () => {
    /** A member whose bus keeps fills; `reads` counts how often they were asked for during the outage. */
    function keeping(t: TestContext, topic: string, groupId: string) {
      const bus = new RecordingBus();
      const memory = new MemoryTopics();
      const outage = { reads: 0 };
      const fills: StateFills = {
        places: [],
        read: (...of) => {
          if (!bus.isAway) return memory.read(...of);
          outage.reads++;
          return Promise.reject(new BusUnavailableError('away'));
        },
        end: (...of) => memory.end(...of),
      };
      const acquire = async (lease: PartitionLease) => {
        await bus.acquire(lease);
        memory.acquire(lease);
        return undefined;
      };
      const states = { signatures: new Map([[topic, 'aa']]), fills };
      return { ...createConsumer(t, outside.brokers, [topic], { groupId, bus, ports: { states, acquire } }), outage };
    }

    it('waits in its session to be positioned, while the other members are served', async (t) => {
      const topic = await outside.createTopic();
      await outside.sendSequences(topic, 4, 10);
      const groupId = randomName('group');
      const [away, other] = [keeping(t, topic, groupId), keeping(t, topic, groupId)];
      away.bus.isAway = true;
      await Promise.all([away.consumer.start(), other.consumer.start()]);
      await waitFor('both members', () => away.counts.paused === 2);
      assert.equal(away.consumer.isConnected, true);
      assert.deepEqual(
        away.consumer.waits.map((wait) => wait.for),
        ['bus', 'bus'],
      );
      const { reads } = away.outage;
      await waitFor('ten attempts', () => away.outage.reads >= reads + 10, 30_000);
      await waitFor('the records of the other member', () => other.bus.messages.length >= 20);
      assert.deepEqual([away.counts.rebuilds, other.counts.rebuilds], [[], []]);
      const joins = other.lines.filter((line) => line.includes('joined the consumer group')).length;
      assert.ok(joins <= 2, `${joins} joins`);
      away.bus.isAway = false;
      await waitFor('the records of both', () => away.bus.messages.length + other.bus.messages.length >= 40);
      assert.equal(orderBreak([...other.bus.of(topic), ...away.bus.of(topic)], true), undefined);
      await waitFor('no pause', () => away.counts.paused === 0);
      assert.deepEqual(away.counts.rebuilds, []);
    });

    it('leaves the group while it waits, when it is closed', async (t) => {
      const topic = await outside.createTopic();
      await outside.sendSequences(topic, 4, 10);
      const groupId = randomName('group');
      const away = keeping(t, topic, groupId);
      away.bus.isAway = true;
      await away.consumer.start();
      await away.consumer.close();
      const { reads } = away.outage;
      const next = keeping(t, topic, groupId);
      await next.consumer.start();
      await waitFor('every record', () => next.bus.messages.length >= 40);
      assert.equal(away.outage.reads, reads);
    });
  });

  it('stays in the group during a publish that takes longer than the session timeout', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const bus = new RecordingBus();
    let isSlow = true;
    const publish = async (messages: readonly ChannelMessage[]) => {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 8000));
      isSlow = false;
      await bus.publish(messages);
    };
    const { consumer, counts, groupId, lines } = createConsumer(t, outside.brokers, [topic], {
      bus,
      ports: { publish },
    });
    await consumer.start();
    await outside.sendSequences(topic, 1, 10);
    await waitFor('every message', () => bus.messages.length >= 10, 20_000);
    await waitFor('the commit', async () => (await outside.committed(groupId, topic)) === 10);
    assert.equal(bus.messages.length, 10);
    assert.deepEqual(counts.rebuilds, []);
    assert.equal(lines.filter((line) => line.includes('joined the consumer group')).length, 1);
  });

  it('consumes the topics that exist, and a missing topic from its beginning once it appears', async (t) => {
    const present = await outside.createTopic();
    const missing = randomName('topic');
    const { consumer, bus, counts, lines } = createConsumer(t, outside.brokers, [present, missing]);
    await consumer.start();
    assert.deepEqual(consumer.missingTopics, [missing]);
    await outside.sendSequences(present, 4, 5);
    await waitFor('the present topic', () => bus.of(present).length === 20);
    await outside.createTopic(missing);
    await outside.sendSequences(missing, 4, 5);
    await waitFor('the new topic', () => bus.of(missing).length === 20);
    assert.equal(orderBreak(bus.of(missing)), undefined);
    assert.deepEqual(consumer.missingTopics, []);
    assert.equal(lines.filter((line) => line.includes('topics do not exist')).length, 1);
    assert.ok(lines.some((line) => line.includes(missing)));
    await outside.sendSequences(present, 4, 5, 5);
    await waitFor('the present topic again', () => bus.of(present).length === 40);
    assert.equal(orderBreak(bus.of(present)), undefined);
    assert.deepEqual(counts.rebuilds, []);
  });

  describe('of a running group', () => {
    /** No look for topics and partitions during the test. */
    const UNAWARE = { environment: { KAFKA_TOPIC_CHECK_INTERVAL_MS: '600000' } };

    const distinct = (bus: RecordingBus, topic: string) =>
      new Set(bus.of(topic).map(({ key, seq }) => `${key} ${seq}`)).size;

    /** A member that has committed, and what it and others of its group have published. */
    async function startGroup(t: TestContext, { environment = {}, topics = [] as string[] } = {}) {
      const topic = await outside.createTopic(undefined, 2);
      const groupId = randomName('group');
      const bus = new RecordingBus();
      const join = async () => {
        const member = createConsumer(t, outside.brokers, [topic, ...topics], { groupId, bus, environment });
        await member.consumer.start();
        return member;
      };
      const first = await join();
      await outside.sendSequences(topic, 2, 5);
      await waitFor('the commits', async () => (await outside.committed(groupId, topic)) === 10);
      return { topic, bus, join, first };
    }

    for (const [change, isClosed] of [
      ['its only member is replaced', true],
      ['another member joins', false],
    ] as const) {
      it(`reads new partitions from their beginning when ${change}`, async (t) => {
        const { topic, bus, join, first } = await startGroup(t, UNAWARE);
        const writer = await outside.addPartitions(t, topic, 4);
        await writer.sendSequences(topic, 4, 5, 5);
        if (isClosed) await first.consumer.close();
        await join();
        await writer.sendSequences(topic, 4, 5, 10);
        await waitFor('every record', () => distinct(bus, topic) === 50);
      });
    }

    it('reads a new topic from its beginning when its only member is replaced', async (t) => {
      const missing = randomName('topic');
      const { bus, join, first } = await startGroup(t, { ...UNAWARE, topics: [missing] });
      await outside.createTopic(missing);
      await outside.sendSequences(missing, 4, 5);
      await first.consumer.close();
      await join();
      await outside.sendSequences(missing, 4, 5, 5);
      await waitFor('every record', () => distinct(bus, missing) === 40);
    });

    it('reads new partitions, and says so, without a restart', async (t) => {
      const { topic, bus, first } = await startGroup(t);
      const writer = await outside.addPartitions(t, topic, 4);
      await writer.sendSequences(topic, 4, 5, 5);
      await waitFor('every record', () => distinct(bus, topic) === 30);
      assert.ok(first.lines.some((line) => line.includes('topics have new partitions') && line.includes(topic)));
      assert.deepEqual(first.counts.rebuilds, []);
    });

    it('says how many records were deleted before they were read, and that another program has set the offset', async (t) => {
      const { topic, bus, join, first } = await startGroup(t, UNAWARE);
      await first.consumer.close();
      await outside.sendSequences(topic, 2, 10, 5);
      await outside.ask(async (admin) => {
        await admin.fetchTopicOffsets(topic);
        await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '12' }] });
        await admin.setOffsets({ groupId: first.groupId, topic, partitions: [{ partition: 1, offset: '15' }] });
      });
      const { counts, lines } = await join();
      await waitFor('the records that are left', () => distinct(bus, topic) === 13);
      assert.deepEqual(counts.missed, { [topic]: 7 });
      const warned = lines.filter((line) => line.includes('"committed"')).map((line) => JSON.parse(line) as object);
      assert.deepEqual(
        warned.map((line) => ({ ...line, time: 0, level: 0, msg: '' })),
        [
          { partition: 0, committed: '5', from: '12', records: 7 },
          { partition: 1, committed: '15', from: '15' },
        ].map((line) => ({ level: 0, time: 0, topic, ...line, msg: '' })),
      );
    });

    it('says that a partition waits for the end of a transaction, and is no stalled consumer', async (t) => {
      const { topic, bus, first } = await startGroup(t, { environment: { KAFKA_STALL_TIMEOUT_MS: '2000' } });
      const producer = outside.kafka.producer({
        transactionalId: randomName('transaction'),
        maxInFlightRequests: 1,
        idempotent: true,
      });
      await producer.connect();
      t.after(() => producer.disconnect());
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ partition: 0, value: '{"key":"0","seq":-1}' }] });
      await outside.sendSequences(topic, 2, 10, 5);
      const wait = { topic, partition: 0, records: 11, for: 'the end of a transaction' };
      await waitFor('the wait', () => first.consumer.waits.length > 0, 20_000);
      assert.deepEqual(first.consumer.waits, [wait]);
      assert.equal(await waitingFor(first.consumer), 1);
      await waitFor('the records of the other partition', () => distinct(bus, topic) === 20);
      assert.equal(first.counts.lag, 11);
      const looks = first.counts.looks + 8;
      await waitFor('looks of two stall timeouts', () => first.counts.looks >= looks, 20_000);
      assert.deepEqual(first.counts.rebuilds, []);
      await transaction.abort();
      await waitFor('every record', () => distinct(bus, topic) === 30);
      assert.equal(orderBreak(bus.of(topic)), undefined);
      await waitFor('the end of the wait', () => first.consumer.waits.length === 0);
      assert.equal(await waitingFor(first.consumer), 0);
    });
  });

  it('starts when no topic exists at all', async (t) => {
    const topic = randomName('topic');
    const { consumer, bus } = createConsumer(t, outside.brokers, [topic]);
    await consumer.start();
    assert.equal(consumer.isConnected, false);
    await outside.createTopic(topic);
    await outside.sendSequences(topic, 4, 1);
    await waitFor('the new topic', () => bus.messages.length === 4);
    assert.equal(consumer.isConnected, true);
  });

  it('replaces a stalled consumer, and calls onFatal if it stalls again', async (t) => {
    const topic = await outside.createTopic();
    const { consumer, bus, counts, fatal } = createConsumer(t, outside.brokers, [topic], {
      environment: { KAFKA_STALL_TIMEOUT_MS: '2500' },
    });
    await consumer.start();
    bus.isHanging = true;
    await outside.sendSequences(topic, 4, 10);
    await waitFor('a rebuild', () => counts.rebuilds.length > 0, 20_000);
    assert.deepEqual(counts.rebuilds, ['stalled']);
    assert.equal(counts.lag, 40);
    bus.isHanging = false;
    await waitFor('every message', () => bus.messages.length >= 40, 30_000);
    assert.equal(orderBreak(bus.of(topic), true), undefined);
    assert.equal(fatal.length, 0);

    bus.isHanging = true;
    await outside.sendSequences(topic, 4, 1, 10);
    await waitFor('the report', () => fatal.length > 0, 60_000);
    assert.match(fatal[0]!.message, /stalled again/);
  });
});
