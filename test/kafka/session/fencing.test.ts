import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ChannelMessage } from '../../../src/bus/bus-message.ts';
import type { Position } from '../../../src/bus/publisher.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, orderBreak, RecordingBus, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

describe('KafkaConsumer that the bus fences', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Workers of one group, each with its own link to Redis, and the messages of the topic that a pod receives. */
  async function createStage(t: TestContext, isFromBeginning: boolean) {
    const { url } = await redisServer(t);
    const prefix = randomName('prefix');
    // Its channel, of the same name, has the prefix of the bus.
    const topic = randomName(prefix);
    const groupId = randomName('group');
    const startedBus = async () => {
      const bus = new RedisBus({ url: url, prefix, log: createLog('silent') });
      t.after(() => bus.close());
      await bus.start();
      return bus;
    };
    const pod = await startedBus();
    const seen: { epoch: number; offset: number }[] = [];
    await pod.subscribe(topic, (_payload, coordinates) => seen.push(coordinates!));
    const epochs = () => [...new Set(seen.map(({ epoch }) => epoch))];
    const offsets = () => seen.map(({ offset }) => offset);
    /** `beforePublish`: what happens first. `afterPublish`: what happens when the bus has accepted records, before the worker learns of it. */
    const startWorker = async (
      afterPublish = () => Promise.resolve(),
      beforePublish: (messages: readonly ChannelMessage[]) => Promise<void> = () => Promise.resolve(),
    ) => {
      const bus = await startedBus();
      const setup = createConsumer(t, outside.brokers, [topic], {
        groupId,
        environment: { KAFKA_FROM_BEGINNING: `${isFromBeginning}` },
        ports: {
          publish: async (messages, upTo) => {
            await beforePublish(messages);
            await bus.publish(messages, upTo);
            await afterPublish();
          },
          acquire: (lease) => bus.acquire(lease),
        },
      });
      await setup.consumer.start();
      return setup.consumer;
    };
    return { topic, seen, epochs, offsets, startWorker };
  }

  it('leases a fenced partition again while it is a member, and loses no record', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const bus = new RecordingBus();
    let refusals = 0;
    const publish = (messages: readonly ChannelMessage[], { offset }: Position) =>
      offset >= 5 && refusals++ < 2 ? Promise.reject(new FencedError('another')) : bus.publish(messages);
    const { consumer, counts } = createConsumer(t, outside.brokers, [topic], { bus, ports: { publish } });
    await consumer.start();
    for (let seq = 0; seq < 10; seq++) await outside.sendSequences(topic, 1, 1, seq);
    await waitFor('every message', () => bus.messages.length >= 10);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual(counts.rebuilds, []);
    const [first, ...others] = bus.leases.map(({ startId }) => startId);
    assert.ok(first);
    assert.equal(others.length, 2);
    assert.ok(others.every((start) => start === undefined || start === first));
  });

  for (const isFromBeginning of [false, true]) {
    const where = isFromBeginning ? 'at the oldest record' : 'at the end';
    it(`publishes nothing twice when a group that starts ${where} loses its first commit`, async (t) => {
      const { topic, seen, epochs, offsets, startWorker } = await createStage(t, isFromBeginning);
      await outside.createTopic(topic, 1);
      const first = await startWorker(() => new Promise(() => undefined));
      await outside.sendSequences(topic, 1, 3);
      await waitFor('the messages that are never committed', () => seen.length === 3);
      await first.close();
      await startWorker();
      await outside.sendSequences(topic, 1, 2, 3);
      await waitFor('the last message', () => offsets().includes(4), 20_000);
      assert.deepEqual(offsets(), [0, 1, 2, 3, 4]);
      assert.equal(epochs().length, 1);
    });
  }

  it('continues its epoch after a restart, and begins a new one after the topic was created again', async (t) => {
    const { topic, seen, epochs, offsets, startWorker } = await createStage(t, true);
    await outside.createTopic(topic, 1);
    const first = await startWorker();
    await outside.sendSequences(topic, 1, 3);
    await waitFor('the first messages', () => seen.length === 3);
    await first.close();
    const second = await startWorker();
    await outside.sendSequences(topic, 1, 3);
    await waitFor('the messages after the restart', () => seen.length === 6);
    assert.deepEqual(offsets(), [0, 1, 2, 3, 4, 5]);
    assert.equal(epochs().length, 1);

    await second.close();
    await outside.deleteTopic(topic);
    await outside.createTopic(topic, 1);
    await startWorker();
    await outside.sendSequences(topic, 1, 2);
    await waitFor('the messages of the new topic', () => seen.length === 8, 20_000);
    assert.deepEqual(offsets().slice(6), [0, 1]);
    assert.equal(epochs().length, 2);
    assert.ok(epochs()[1]! > epochs()[0]!);
  });

  it('begins a new epoch if the topic is created again during a session, and at once has as many records as before', async (t) => {
    const { topic, seen, epochs, offsets, startWorker } = await createStage(t, true);
    await outside.createTopic(topic, 1);
    await startWorker();
    await outside.sendSequences(topic, 1, 3);
    await waitFor('the first messages', () => seen.length === 3);
    await outside.deleteTopic(topic);
    await outside.createTopic(topic, 1);
    await outside.sendSequences(topic, 1, 4);
    await waitFor('the messages of the new topic', () => offsets().includes(3), 20_000);
    assert.deepEqual(offsets().slice(3), [0, 1, 2, 3]);
    assert.equal(epochs().length, 2);
  });

  it('reads a topic from its beginning that is created again, with more records, during a publish', async (t) => {
    const { topic, seen, epochs, offsets, startWorker } = await createStage(t, true);
    await outside.createTopic(topic, 1);
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let publishes = 0;
    await startWorker(undefined, () => (++publishes === 2 ? gate : Promise.resolve()));
    await outside.sendSequences(topic, 1, 3);
    await waitFor('the first messages', () => offsets().length === 3);
    await outside.sendSequences(topic, 1, 1, 3);
    await waitFor('the publish that waits', () => publishes === 2);
    await outside.deleteTopic(topic);
    await outside.createTopic(topic, 1);
    await outside.sendSequences(topic, 1, 6);
    open();
    const ofNewEpoch = () => seen.filter(({ epoch }) => epoch === epochs()[1]).map(({ offset }) => offset);
    await waitFor('the messages of the new topic', () => ofNewEpoch().includes(5), 20_000);
    assert.deepEqual(ofNewEpoch(), [0, 1, 2, 3, 4, 5]);
  });

  it('begins a new epoch if Kafka deletes unread records while the member waits for the bus', async (t) => {
    const { topic, seen, epochs, offsets, startWorker } = await createStage(t, true);
    await outside.createTopic(topic, 1);
    // Away for as long as it is shown the first of those.
    const isAway = (messages: readonly ChannelMessage[]) => messages.some(({ offset }) => offset === 3);
    let refusals = 0;
    await startWorker(undefined, (messages) =>
      isAway(messages) ? Promise.reject(new BusUnavailableError(`away ${++refusals}`)) : Promise.resolve(),
    );
    await outside.sendSequences(topic, 1, 3);
    await waitFor('the first messages', () => seen.length === 3);
    await outside.sendSequences(topic, 1, 5, 3);
    await waitFor('a refusal', () => refusals > 0);
    await outside.ask(async (admin) => {
      // Without it, kafkajs does not know the leader.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '6' }] });
    });
    await waitFor('the last message', () => offsets().includes(7), 20_000);
    assert.deepEqual(offsets(), [0, 1, 2, 6, 7]);
    assert.equal(epochs().length, 2, 'else nobody would be told that 3 to 5 are missing');
    assert.deepEqual(
      seen.map(({ epoch }) => epochs().indexOf(epoch)),
      [0, 0, 0, 1, 1],
    );
  });
});
