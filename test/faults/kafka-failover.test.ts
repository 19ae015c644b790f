import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startKafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaCluster } from '../../stack/kafka-cluster.ts';
import type { KafkaNode } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { consumerGroupClass, surviveFailovers } from '../../src/kafka/client/patches/failover.ts';
import type { ConsumerGroup } from '../../src/kafka/client/patches/failover.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { createConsumer, orderBreak, Outside } from '../kafka/consumer-harness.ts';

/** Longer than any failover: who has to wait for the session of a ghost shows. */
const SESSION_TIMEOUT_MS = 60_000;
const PARTITIONS = 6;
const PATIENCE_MS = 60_000;

const restore = surviveFailovers();

describe('a member before its first batch', () => {
  it('waits for a topic that its leader does not know yet', async (t) => {
    // Waiting keeps no process.
    const alive = setInterval(() => undefined, 1000);
    t.after(() => clearInterval(alive));
    let refreshed = 0;
    const refreshMetadata = () => Promise.resolve(void refreshed++);
    const group = { sessionTimeout: SESSION_TIMEOUT_MS, cluster: { refreshMetadata } };
    const error = Object.assign(new Error('no such topic'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
    await consumerGroupClass().prototype.recoverFromFetch.call(group as unknown as ConsumerGroup, error);
    assert.equal(refreshed, 1);
  });
});

describe('KafkaConsumer whose coordinator is killed', () => {
  let cluster: KafkaCluster;
  before(async () => (cluster = await startKafkaCluster(await freePorts(3))));
  after(() => cluster.stop());

  /** A consumer that has read something of every partition, and the broker that coordinates its group. */
  async function consuming(t: TestContext) {
    const outside = new Outside(cluster.addresses);
    await outside.connect();
    t.after(() => outside.close());
    const topic = randomName('topic');
    await outside.createTopic(topic, PARTITIONS, 3);
    const setup = createConsumer(t, cluster.addresses, [topic], {
      environment: { KAFKA_SESSION_TIMEOUT_MS: `${SESSION_TIMEOUT_MS}` },
    });
    await setup.consumer.start();
    await waitFor('the join', () => setup.consumer.isConnected, PATIENCE_MS);
    await outside.sendSequences(topic, PARTITIONS, 1);
    await waitFor('the first records', () => setup.bus.messages.length >= PARTITIONS, PATIENCE_MS);
    // What failed while a fresh cluster made its inner topics is not what this is about.
    setup.counts.rebuilds.length = 0;
    setup.lines.length = 0;
    return { ...setup, outside, topic, coordinator: await coordinatorOf(cluster, outside, setup.groupId) };
  }

  it('keeps its membership, without a rebalance', async (t) => {
    const { outside, topic, bus, counts, lines, groupId, coordinator } = await consuming(t);
    const killedAt = performance.now();
    await coordinator.kill();
    await outside.sendSequences(topic, PARTITIONS, 5, 1);
    await waitFor('every record', () => bus.messages.length >= 6 * PARTITIONS, PATIENCE_MS);
    const tookMs = performance.now() - killedAt;
    await waitFor(
      'their commit',
      async () => (await outside.committed(groupId, topic)) === 6 * PARTITIONS,
      PATIENCE_MS,
    );
    t.diagnostic(`every record ${Math.round(tookMs)} ms after the kill`);
    assert.ok(tookMs < SESSION_TIMEOUT_MS / 2, `${tookMs} ms`);
    assert.equal(orderBreak(bus.of(topic)), undefined);
    assert.deepEqual(counts.rebuilds, []);
    assert.ok(!lines.some((line) => line.includes('joined the consumer group')));
    const failures = lines.filter((line) => line.includes('commit failed'));
    assert.ok(failures.length <= 6, `${failures.length} lines`);
    await coordinator.start();
  });

  it('crashes and leaves a dead member in the group without the patch', async (t) => {
    const { counts, coordinator } = await consuming(t);
    restore();
    // Whatever connects anew must not install it again.
    Object.assign(consumerGroupClass().prototype.heartbeat, { [Symbol.for('crier.kafkajs.failover')]: true });
    const { rebuilds } = counts;
    await coordinator.kill();
    await waitFor('the crash', () => rebuilds.includes('crashed'), PATIENCE_MS);
  });
});

/** The one that leads the group's partition of `__consumer_offsets`. */
async function coordinatorOf({ nodes }: KafkaCluster, outside: Outside, groupId: string): Promise<KafkaNode> {
  const { topics } = await outside.ask((admin) => admin.fetchTopicMetadata({ topics: ['__consumer_offsets'] }));
  const { partitions } = topics[0]!;
  let hash = 0;
  for (const char of groupId) hash = (Math.imul(31, hash) + char.charCodeAt(0)) | 0;
  const place = Math.abs(hash) % partitions.length;
  const { leader } = partitions.find(({ partitionId }) => partitionId === place)!;
  return nodes[leader - 1]!;
}
