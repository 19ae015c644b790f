import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { startKafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaNode } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { waitFor } from '../support/wait-for.ts';
import { isFull } from './form.ts';
import { createStage } from './stage.ts';
import { Trial } from './trial.ts';

const PARTITIONS = 4;
const RECORDS_PER_SECOND = isFull ? 200 : 100;
const MAX_SILENCE_MS = 15_000;
const AWAY_MS = isFull ? 60_000 : 10_000;
const MAX_RECOVERY_MS = 30_000;
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
});

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

async function partitionsOf(nodes: readonly KafkaNode[], topic: string): Promise<kafkajs.PartitionMetadata[]> {
  const brokers = nodes.map(({ address }) => address);
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]!.partitions;
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
