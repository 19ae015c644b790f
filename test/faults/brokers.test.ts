import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { startKafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaNode } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { checkKafka } from '../../src/ops/check/kafka-check.ts';
import { createKafkaClient } from '../../src/kafka/client/kafka-client.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { Outside, createConsumer, readableLog } from '../kafka/consumer-harness.ts';
import type { Setup } from '../kafka/consumer-harness.ts';
import { randomName } from '../support/services.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';
import { Balancer } from './balancer.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 4;
const RECORDS_PER_SECOND = isFull ? 200 : 100;
const MAX_SILENCE_MS = 15_000;
const AWAY_MS = isFull ? 60_000 : 10_000;
const MAX_RECOVERY_MS = 30_000;
const REDIS_AWAY_MS = isFull ? 30_000 : 4_000;
/** Longer than a worker takes to connect again, and less than FLOW_PATIENCE_MS. */
const LINK_DELAY_MS = 2_000;
const PATIENCE_MS = 120_000;

describe('three Kafka brokers', () => {
  let cluster: KafkaCluster;
  before(async () => (cluster = await startKafkaCluster(await freePorts(3))));
  after(() => cluster.stop());

  const stageFor = (t: TestContext) => createStage(t, { brokers: cluster.addresses, partitions: PARTITIONS });

  it('are killed and restarted one by one without loss, reordering, duplicates or long delays', async (t) => {
    const stage = await stageFor(t);
    const gateway = await stage.start('gateway');
    await Promise.all([stage.start('worker'), stage.start('worker')]);
    await stage.hasWorkers(2);
    const trial = await Trial.start(t, stage, [gateway], { recordsPerSecond: RECORDS_PER_SECOND });
    // The short form kills only the leader of a lane.
    const nodes = isFull ? cluster.nodes : [await leaderOf(cluster, stage.name)];
    for (const node of nodes) {
      trial.takeLongestSilence();
      await node.kill();
      await trial.hears('entries written after the kill');
      await node.start();
      await untilInSync(cluster, stage.name);
      await trial.hears('entries written after the return');
      trial.took(`silence around the broker on port ${node.port}`, trial.takeLongestSilence(), MAX_SILENCE_MS);
    }
    assert.deepEqual(await trial.finish(), []);
  });

  it('leave a partition without a leader: it waits alone, named, and all others are read, by new workers, too', async (t) => {
    const [lone, other] = [randomName('lone'), randomName('other')];
    const topics = [lone, other];
    const config = testConfig({ KAFKA_BROKERS: cluster.addresses, REDIS_URL: 'redis://127.0.0.1:1' });
    await createLone(cluster, lone, [3, 1]);
    const outside = new Outside(cluster.addresses);
    await outside.connect();
    t.after(() => outside.close());
    await outside.createTopic(other, 2, 3);
    // kafkajs's own producer cannot write to a topic of which a partition has no leader.
    const producer = createKafkaClient(config, readableLog().log).kafka.producer();
    await producer.connect();
    t.after(() => producer.disconnect());
    const write = (partition: number, seq: number) =>
      producer.send({ topic: lone, messages: [{ partition, value: JSON.stringify({ key: `${partition}`, seq }) }] });
    const first = createConsumer(t, cluster.addresses, topics);
    await first.consumer.start();
    for (const partition of [0, 1]) await write(partition, 0);
    await outside.sendSequences(other, 2, 1);
    await waitFor('the first records', () => first.bus.messages.length === 4, PATIENCE_MS);

    await cluster.nodes[2]!.kill();
    const wait = { topic: lone, partition: 0, for: 'a leader' };
    await waitFor('the wait', () => first.consumer.waits.length > 0, PATIENCE_MS);
    assert.deepEqual(first.consumer.waits, [wait]);
    assert.ok(
      first.lines.some((line) => /"partitions":\[\{"topic":"lone-[^"]+","partition":0\}\].*no leader/.test(line)),
    );
    // A new member of the group, and a new group, none of which has a commit of the partition.
    const { groupId } = first;
    const second = createConsumer(t, cluster.addresses, topics, { groupId, bus: first.bus });
    const stranger = createConsumer(t, cluster.addresses, topics, { environment: { KAFKA_FROM_BEGINNING: 'true' } });
    await Promise.all([second.consumer.start(), stranger.consumer.start()]);
    assert.deepEqual([second.consumer.problem, stranger.consumer.problem], [undefined, undefined]);
    await write(1, 1);
    await outside.sendSequences(other, 2, 1, 1);
    const isRead = ({ bus }: Setup, topic: string, count: number) =>
      new Set(bus.of(topic).map(({ key, seq }) => `${key} ${seq}`)).size === count;
    await waitFor('the others', () => isRead(first, other, 4) && isRead(first, lone, 3), PATIENCE_MS);
    await waitFor('the others', () => isRead(stranger, other, 4) && isRead(stranger, lone, 2), PATIENCE_MS);
    assert.deepEqual(stranger.consumer.waits, [wait]);
    const findings = await checkKafka(config, {
      graph: 'any',
      all: topics,
      withState: [],
      published: [],
    });
    const bad = findings.filter(({ status }) => status !== 'ok');
    assert.match(JSON.stringify(bad), new RegExp(`^\\[{"status":"warning",[^}]*${lone} have no leader: 0;[^}]*}\\]$`));

    await cluster.nodes[2]!.start();
    await waitFor('a write to the partition', () => write(0, 1).catch(() => undefined), PATIENCE_MS);
    await waitFor('every record', () => isRead(first, lone, 4) && isRead(stranger, lone, 4), PATIENCE_MS);
    assert.deepEqual([first.counts.rebuilds, second.counts.rebuilds, stranger.counts.rebuilds], [[], [], []]);
    await waitFor('no wait', () => stranger.consumer.waits.length === 0);
  });

  it('are all unreachable for a while: sockets and readiness stay, and records flow again without a loss', async (t) => {
    const stage = await stageFor(t);
    const gateway = await stage.start('gateway');
    await stage.start('worker');
    const trial = await Trial.start(t, stage, [gateway], { recordsPerSecond: RECORDS_PER_SECOND });
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await staysReady(stage.pods, AWAY_MS);
    assert.ok(trial.subscribers.every(({ closeCode }) => closeCode === undefined));
    const { heard } = trial;
    await Promise.all(cluster.nodes.map((node) => node.start()));
    const backAt = performance.now();
    await stage.until('the first event after the return', () => trial.heard > heard);
    const recoveryMs = performance.now() - backAt;
    trial.took(`first event after ${AWAY_MS / 1000} s without Kafka`, recoveryMs, MAX_RECOVERY_MS);
    await trial.hears('entries written after the return');
    assert.deepEqual(await trial.finish(), []);
  });

  it('and then Redis are unreachable: what waits in Kafka is published when the gateways are back, and none is lost', async (t) => {
    const stage = await stageFor(t);
    const { redis } = stage;
    const link = await Balancer.start(t, [redis.port]);
    const behindLink = { REDIS_URL: `redis://127.0.0.1:${link.port}` };
    const gateways = [await stage.start('gateway', behindLink), await stage.start('gateway', behindLink)];
    await stage.start('worker');
    const options = { recordsPerSecond: RECORDS_PER_SECOND, expectsGaps: true };
    const trial = await Trial.start(t, stage, gateways, options);
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await delay(REDIS_AWAY_MS);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await trial.hears('entries written after the return of Kafka');
    const isGone = once(redis.process, 'exit');
    redis.process.kill('SIGKILL');
    await isGone;
    link.disconnect();
    await delay(REDIS_AWAY_MS);
    const again = await startRedisServer({ port: redis.port });
    t.after(() => again.stop());
    // The worker is back before the gateways.
    await delay(LINK_DELAY_MS);
    link.restore();
    await trial.hears('entries written after the return of Redis');
    assert.deepEqual(await trial.finish(), []);
  });
});

/** Creates a topic whose partitions have one replica each, on these nodes. */
async function createLone({ nodes }: KafkaCluster, topic: string, ids: readonly number[]): Promise<void> {
  await withAdmin(nodes, async (admin) => {
    const replicaAssignment = ids.map((id, partition) => ({ partition, replicas: [id] }));
    await admin.createTopics({ topics: [{ topic, replicaAssignment }] });
  });
}

async function leaderOf({ nodes }: KafkaCluster, topic: string): Promise<KafkaNode> {
  const [partition] = await partitionsOf(nodes, topic);
  return nodes[partition!.leader - 1]!;
}

/** Resolves when all replicas of the topic are in sync, so that the next broker can be killed. */
async function untilInSync({ nodes }: KafkaCluster, topic: string): Promise<void> {
  const isInSync = async () => {
    const partitions = await partitionsOf(nodes, topic).catch(() => []);
    return partitions.length > 0 && partitions.every(({ isr }) => isr.length === nodes.length);
  };
  await waitFor('every replica to be in sync', isInSync, PATIENCE_MS);
}

function partitionsOf(nodes: readonly KafkaNode[], topic: string): Promise<kafkajs.PartitionMetadata[]> {
  return withAdmin(nodes, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]!.partitions;
  });
}

async function withAdmin<Reply>(nodes: readonly KafkaNode[], ask: (admin: kafkajs.Admin) => Promise<Reply>) {
  const brokers = nodes.map(({ address }) => address);
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await ask(admin);
  } finally {
    await admin.disconnect();
  }
}

async function staysReady(pods: readonly Pod[], forMs: number): Promise<void> {
  const until = performance.now() + forMs;
  while (performance.now() < until) {
    for (const pod of pods) assert.equal((await pod.readiness()).status, 200);
    await delay(500);
  }
}
