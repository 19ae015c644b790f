import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartitionAssigner } from 'kafkajs';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../../src/base/log.ts';
import { decodeSubscription, encodeAssignment, encodeSubscription } from '../../../src/kafka/client/group-members.ts';
import { createRawCluster } from '../../../src/kafka/client/raw-cluster.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createConsumer, orderBreak, withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

/** That of former versions, too. */
const PROTOCOL = 'RoundRobinAssigner';
const PARTITIONS = 4;
const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** A member that sends nothing stays for this long. */
const TIMEOUT_MS = 60_000;
const ROUNDS = 3;

/** The requests of a coordinator that a member sends. */
interface Coordinator {
  joinGroup(request: object): Promise<{ memberId: string; generationId: number }>;
  syncGroup(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
}

describe('a member whose group is joined again', { concurrency: 8 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** Workers of one group, each with its own link to Redis, and what a pod receives. */
  async function createStage(t: TestContext) {
    const { url } = await redisServer(t);
    const prefix = randomName('prefix');
    // Its channel, of the same name, has the prefix of the bus.
    const topic = await outside.createTopic(randomName(prefix), PARTITIONS);
    const groupId = randomName('group');
    const startBus = async () => {
      const bus = new RedisBus({ url, prefix, log: createLog('silent') });
      t.after(() => bus.close());
      await bus.start();
      return bus;
    };
    const seen: { key: string; seq: number }[] = [];
    const pod = await startBus();
    await pod.subscribe(topic, (payload) => seen.push(JSON.parse(String(payload)) as { key: string; seq: number }));
    const startWorker = async () => {
      const bus = await startBus();
      /** Partitions in the order in which they were leased. */
      const leased: number[] = [];
      let refusals = 0;
      let joins = 0;
      const setup = createConsumer(t, outside.brokers, [topic], {
        groupId,
        environment: { KAFKA_FROM_BEGINNING: 'true' },
        ports: {
          facts: () => ({
            // Told with each join.
            get pod() {
              joins++;
              return 'worker';
            },
          }),
          acquire: (lease) => (leased.push(lease.partition), bus.acquire(lease)),
          publish: (messages, upTo) =>
            bus.publish(messages, upTo).catch((error: unknown) => {
              refusals++;
              throw error;
            }),
        },
      });
      await setup.consumer.start();
      return { ...setup, leased, refusals: () => refusals, joins: () => joins };
    };
    /** A member that joins and then sends nothing, until it leaves: it holds open each further join. Resolves when it has been assigned its part. */
    const joinAsMute = async () => {
      const cluster = createRawCluster(outside.kafka);
      t.after(() => (cluster as unknown as { disconnect(): Promise<void> }).disconnect());
      await cluster.connect();
      const coordinator = (await cluster.findGroupCoordinator({ groupId })) as unknown as Coordinator;
      const { memberId, generationId } = await coordinator.joinGroup({
        ...{ groupId, sessionTimeout: TIMEOUT_MS, rebalanceTimeout: TIMEOUT_MS },
        groupProtocols: [{ name: PROTOCOL, metadata: encodeSubscription([topic], {}) }],
      });
      await coordinator.syncGroup({ groupId, generationId, memberId, groupAssignment: [] });
      return { leave: () => coordinator.leaveGroup({ groupId, memberId }) };
    };
    const send = (seq: number, ...partitions: readonly number[]) =>
      outside.send(
        topic,
        partitions.map((partition) => ({ partition, value: JSON.stringify({ key: `${partition}`, seq }) })),
      );
    return { topic, groupId, seen, startBus, startWorker, joinAsMute, send };
  }

  it('reads, publishes and commits the partitions that it keeps while another member holds the join open', async (t) => {
    const { topic, groupId, seen, startBus, startWorker, joinAsMute, send } = await createStage(t);
    const { leased, refusals, joins } = await startWorker();
    await send(0, 0, 1);
    await waitFor('the first records', () => seen.length === 2);
    const mute = await joinAsMute();
    assert.equal(joins(), 2);
    let hasJoined = false;
    const join = joinAsMute().then(() => (hasJoined = true));
    await waitFor('the join of the worker', () => joins() === 3);
    await send(1, 0, 1);
    await waitFor('records during the join', () => seen.length === 4);
    await waitFor('their commits', async () => (await outside.committed(groupId, topic)) === 4);

    const thief = await startBus();
    await thief.acquire({ topic, partition: 0, position: 1 });
    await send(2, 0);
    await waitFor('the refusal', () => refusals() === 1);
    for (const seq of [2, 3]) {
      await send(seq, 1);
      await waitFor('a record of the other partition', () => seen.length === 3 + seq);
    }
    // Nobody else leases it again before the join tells whose it is.
    assert.deepEqual([leased.toSorted(), hasJoined], [[0, 1], false]);

    await mute.leave();
    await join;
    await waitFor('the fenced record', () => seen.length === 7);
    assert.deepEqual([leased.slice(2), refusals()], [[0], 1]);
    assert.equal(orderBreak(seen), undefined);
  });

  it('publishes every record once, in order, while a leader of a former version moves all partitions', async (t) => {
    const { topic, groupId, seen, startWorker, joinAsMute, send } = await createStage(t);
    const former = outside.kafka.consumer({
      ...{ groupId, maxWaitTimeInMs: 100, heartbeatInterval: 300, partitionAssigners: [movingAssigner] },
    });
    t.after(() => former.disconnect());
    await former.connect();
    await former.subscribe({ topics: [topic], fromBeginning: true });
    const leads = new Promise<boolean>((resolve) =>
      former.on(former.events.GROUP_JOIN, ({ payload }) => resolve(payload.isLeader)),
    );
    await former.run({ eachMessage: () => Promise.reject(new Error('it has no partition')) });
    assert.ok(await leads);
    const workers = [await startWorker(), await startWorker()];
    let sent = 0;
    let isWriting = true;
    const writing = (async () => {
      for (; isWriting; sent++, await delay(10)) await send(sent, ...ALL);
    })();
    for (let round = 0; round < ROUNDS; round++) {
      const mute = await joinAsMute();
      await mute.leave();
      const before = seen.length;
      await waitFor('more records', () => seen.length > before + 100);
    }
    isWriting = false;
    await writing;
    await waitFor('every record', () => seen.length >= sent * PARTITIONS);
    assert.equal(orderBreak(seen), undefined);
    assert.equal(seen.length, sent * PARTITIONS);
    const leases = workers.reduce((sum, { leased }) => sum + leased.length, 0);
    assert.ok(leases >= (1 + ROUNDS) * PARTITIONS, `${leases} leases`);
  });
});

/** As a leader of a former version, whose members own nothing: it gives all partitions to the workers, each time to another one. */
const movingAssigner: PartitionAssigner = () => {
  let moves = 0;
  return {
    name: PROTOCOL,
    version: 0,
    protocol: ({ topics }) => ({ name: PROTOCOL, metadata: encodeSubscription(topics, {}) }),
    assign: ({ members, topics }) => {
      const workers = members.filter(({ memberMetadata }) => decodeSubscription(memberMetadata).pod !== undefined);
      moves++;
      const ids = workers.map(({ memberId }) => memberId).sort();
      const assigned = ids.map((memberId, i) => ({
        memberId,
        memberAssignment: encodeAssignment(
          new Map(topics.map((topic) => [topic, ALL.filter((partition) => (partition + moves) % ids.length === i)])),
        ),
      }));
      return Promise.resolve(assigned);
    },
  };
};
