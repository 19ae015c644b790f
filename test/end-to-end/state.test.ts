import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisCluster, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from './pod.ts';
import { startPod } from './pod-server.ts';

const PATIENCE_MS = 60_000;

interface Result {
  readonly data: { readonly order: { readonly key: string; readonly seq: number } | null };
  readonly extensions?: { readonly gap?: true; readonly stateComplete?: false };
}

describe('state', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  /** A topic of two partitions, and the settings of pods that serve it. */
  async function stage(t: TestContext) {
    const topic = await outside.createTopic(undefined, 2);
    const name = randomName('state');
    const { url } = await redisServer(t);
    const client = new Redis(url);
    t.after(() => client.disconnect());
    const settingsWith = async (state: string) => ({
      GRAPH: await graphFolder(t, {
        'schema.graphql': `
          type Subscription {
            order(key: ID!): Order @kafka(topic: "${topic}", match: [{ arg: "key", path: "key" }] ${state})
          }
          type Order { key: ID seq: Int }
        `,
      }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: name,
      KAFKA_DEAD_LETTER_TOPIC: `${name}-dead`,
      REDIS_URL: url,
      CHANNEL_PREFIX: `${name}:`,
    });
    const publish = (records: readonly [partition: number, key: string, seq: number | null][]) =>
      outside.send(
        topic,
        records.map(([partition, key, seq]) => ({
          partition,
          key,
          value: seq === null ? null : JSON.stringify({ key, seq }),
        })),
      );
    return { topic, client, settingsWith, publish };
  }

  const isComplete = (pod: Pod) =>
    waitFor(
      'complete states',
      async () => {
        const { body } = await pod.readiness();
        return (body['incomplete_states'] as unknown[]).length === 0 && (body['state_fills'] as unknown[]).length === 0;
      },
      PATIENCE_MS,
    );

  async function subscribe(t: TestContext, pod: Pod, key: string) {
    const socket = await openSocket(t, pod.url, { patienceMs: PATIENCE_MS });
    await socket.init();
    socket.subscribe('1', `subscription { order(key: "${key}") { key seq } }`);
    return {
      next: async () => {
        const [message] = await socket.take(1);
        assert.equal(message!.type, 'next', JSON.stringify(message));
        return message!.payload as Result;
      },
      rest: () => socket.roundTrip(),
    };
  }

  it('of a new group is that of the records before it; a subscription begins with it, and with nothing after a tombstone', async (t) => {
    const { topic, publish, settingsWith } = await stage(t);
    await publish([
      [0, 'a', 1],
      [0, 'a', 2],
      [1, 'b', 3],
      [1, 'c', 4],
      [1, 'c', null],
    ]);
    const pod = await startPod(t, await settingsWith('state: {}'));
    await isComplete(pod);
    await pod.counts(`crier_states_complete{topic="${topic}"}`, 1);
    const metrics = await (await fetch(`${pod.admin}/metrics`)).text();
    assert.doesNotMatch(metrics, /^crier_state_fill_records\{/m, 'nothing is left to fill');
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((key) => subscribe(t, pod, key)));
    const first = await a!.next();
    assert.deepEqual(first.data, { order: { key: 'a', seq: 2 } });
    assert.equal(first.extensions?.stateComplete, undefined);
    assert.deepEqual((await b!.next()).data, { order: { key: 'b', seq: 3 } });
    await publish([
      [0, 'a', 5],
      [1, 'c', 6],
    ]);
    assert.deepEqual((await a!.next()).data, { order: { key: 'a', seq: 5 } });
    assert.deepEqual((await c!.next()).data, { order: { key: 'c', seq: 6 } });
    for (const one of [a, b, c]) assert.deepEqual(await one!.rest(), []);
  });

  it('is filled when a group that has committed offsets begins to keep it', async (t) => {
    const { topic, publish, settingsWith } = await stage(t);
    const before = await startPod(t, { ...(await settingsWith('')), KAFKA_FROM_BEGINNING: 'true' });
    await publish([
      [0, 'a', 1],
      [1, 'b', 2],
    ]);
    await before.counts(`crier_records_consumed_total{topic="${topic}"}`, 2);
    await before.stop();
    const pod = await startPod(t, await settingsWith('state: {}'));
    await isComplete(pod);
    assert.deepEqual((await (await subscribe(t, pod, 'a')).next()).data, { order: { key: 'a', seq: 1 } });
    assert.deepEqual((await (await subscribe(t, pod, 'b')).next()).data, { order: { key: 'b', seq: 2 } });
  });

  it('is filled again after Redis has lost its data', async (t) => {
    const { client, publish, settingsWith } = await stage(t);
    await publish([
      [0, 'a', 1],
      [1, 'b', 2],
    ]);
    const pod = await startPod(t, await settingsWith('state: {}'));
    await isComplete(pod);
    await client.flushall();
    await publish([
      [0, 'a', 3],
      [1, 'c', 4],
    ]);
    await waitFor('the lost states', async () => (await client.keys('*.state')).length === 3, PATIENCE_MS);
    await isComplete(pod);
    assert.deepEqual((await (await subscribe(t, pod, 'a')).next()).data, { order: { key: 'a', seq: 3 } });
    assert.deepEqual((await (await subscribe(t, pod, 'b')).next()).data, { order: { key: 'b', seq: 2 } });
  });

  it('is filled on a Redis Cluster, whose shards have a part of the channels each', async (t) => {
    const { publish, settingsWith } = await stage(t);
    await publish(Array.from({ length: 20 }, (_, i) => [i % 2, `${i}`, i]));
    const { url } = await redisCluster(t, { replicas: 0 });
    const pod = await startPod(t, { ...(await settingsWith('state: {}')), REDIS_URL: url });
    await isComplete(pod);
    for (let i = 0; i < 20; i++) {
      const key = `${i}`;
      assert.deepEqual((await (await subscribe(t, pod, key)).next()).data, { order: { key, seq: i } });
    }
  });

  it('is filled again after Redis has lost its data, though no record follows', async (t) => {
    const { client, publish, settingsWith } = await stage(t);
    await publish([[0, 'a', 1]]);
    const pod = await startPod(t, { ...(await settingsWith('state: {}')), KAFKA_STALL_TIMEOUT_MS: '10000' });
    await isComplete(pod);
    await client.flushall();
    await waitFor('the lost state', async () => (await client.keys('*.state')).length === 1, PATIENCE_MS);
    await isComplete(pod);
    assert.deepEqual((await (await subscribe(t, pod, 'a')).next()).data, { order: { key: 'a', seq: 1 } });
  });
});
