import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { KafkaNode } from '../../stack/kafka-node.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { startBroker } from '../support/own-broker.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';

const TOPIC = 'bids';
const SCHEMA = `
  type Query { ready: Boolean }
  type Subscription { bid: Bid @kafka(topic: "${TOPIC}", payload: "bid") }
  type Bid { amount: Int }
  type Mutation { place(amount: Int!): Accepted @kafkaPublish(topic: "${TOPIC}") }
  type Accepted { partition: Int }`;
const DRAIN_CODE = 1001;

const bid = (amount: number) => `mutation { place(amount: ${amount}) { partition } }`;

async function post({ endpoint }: Pod, amount: number): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: bid(amount) }),
  });
  return response.json();
}

/** A pod that drains while one bid over HTTP and one over a WebSocket wait for a frozen broker. */
async function drainingPod(t: TestContext) {
  const node = await startBroker(t, TOPIC);
  // The signal reaches a frozen process once it is thawed.
  t.after(() => node.process.kill('SIGCONT'));
  const pod = await spawnPod(t, {
    ROLE: 'gateway',
    GRAPH: await graphFolder(t, { 'schema.graphql': SCHEMA }),
    KAFKA_BROKERS: node.address,
    REDIS_URL: (await redisServer(t)).url,
    CHANNEL_PREFIX: `${randomName('bids')}:`,
  }).started();
  assert.deepEqual(await post(pod, 1), { data: { place: { partition: 0 } } });
  const socket = await openSocket(t, pod.url);
  await socket.init();
  node.process.kill('SIGSTOP');
  const posted = post(pod, 2);
  socket.subscribe('a', bid(3));
  await pod.counts('crier_executions_in_flight', 2);
  pod.process.kill('SIGTERM');
  await pod.reports({ status: 'draining' });
  return { node, pod, posted, socket };
}

/** The payload of an operation's result, after which its socket is closed by the drain. */
async function lastResult(socket: Socket): Promise<unknown> {
  const { type, payload } = await socket.next();
  assert.equal(type, 'next');
  assert.equal((await socket.next()).type, 'complete');
  assert.equal((await socket.expectClose()).code, DRAIN_CODE);
  return payload;
}

async function amountsIn({ address }: KafkaNode): Promise<number[]> {
  const { stdout } = await promisify(execFile)('kcat', ['-C', '-b', address, '-t', TOPIC, '-e', '-q']);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { amount: number }).amount).sort();
}

describe('a drain with mutations that publish in flight', () => {
  it('acknowledges them over HTTP and WebSocket once Kafka has, and begins no other', async (t) => {
    const { node, pod, posted, socket } = await drainingPod(t);
    socket.subscribe('b', bid(4));
    node.process.kill('SIGCONT');
    const accepted = { data: { place: { partition: 0 } } };
    assert.deepEqual(await posted, accepted);
    assert.deepEqual(await lastResult(socket), accepted);
    assert.equal(await pod.ended, 0, pod.log);
    assert.deepEqual(await amountsIn(node), [1, 2, 3]);
  });

  it('answers them over HTTP and WebSocket with an error while Kafka stays away', async (t) => {
    const { pod, posted, socket } = await drainingPod(t);
    for (const result of [await posted, await lastResult(socket)]) {
      const { errors } = result as { errors: [{ extensions: { code: string } }] };
      assert.equal(errors[0].extensions.code, 'KAFKA_UNCONFIRMED');
    }
    assert.equal(await pod.ended, 0, pod.log);
  });
});
