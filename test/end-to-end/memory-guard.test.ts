import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { spawnPod } from './pod-process.ts';
import type { PodProcess } from './pod-process.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Subscription {
      thing: Thing @kafka(topic: "things")
      own(id: ID!, text: String): Thing @kafka(topic: "other", match: [{ arg: "id", path: "id" }])
    }
    type Thing { id: ID count: Int }
  `,
  'samples.ts': `
    export function* records() { for (let count = 1; ; count++) yield { topic: 'things', value: { count } }; }
  `,
};
const OWN = 'subscription ($id: ID!, $text: String) { own(id: $id, text: $text) { id } }';

const OLD_GENERATION = 64 * 2 ** 20;
/** Of one operation, in its variables. A connection may keep 1 MiB. */
const TEXT_BYTES = 60_000;
const OPERATIONS = 16;
/** Clients that together keep twice the old generation. */
const GREEDY_CLIENTS = Math.ceil((2 * OLD_GENERATION) / (OPERATIONS * TEXT_BYTES));

const HEAP_OPTIONS = `--max-old-space-size=${OLD_GENERATION / 2 ** 20} --max-semi-space-size=4`;
/**
 * Keeps V8 from ending a process below the limit because its collections take most of the time, which they do on a busy machine. It is no
 * option of NODE_OPTIONS itself.
 */
const PATIENT =
  "--import=data:text/javascript,import{setFlagsFromString}from'node:v8';setFlagsFromString('--no-detect-ineffective-gcs-near-heap-limit')";

/** A pod with a small heap that the greedy clients can fill. */
async function startSmallPod(t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<PodProcess> {
  return spawnPod(t, {
    NODE_OPTIONS: HEAP_OPTIONS,
    GRAPH: await graphFolder(t, GRAPH),
    SAMPLE_INTERVAL_MS: '20',
    MAX_MESSAGE_BYTES: '262144',
    ...settings,
  }).started();
}

/** Subscribes to as much as a connection may keep. Resolves with false if the pod closes it meanwhile, or ends. */
async function isServedGreedily(socket: Socket): Promise<boolean> {
  try {
    for (let id = 0; id < OPERATIONS; id++) {
      const text = String.fromCharCode(97 + id).repeat(TEXT_BYTES);
      socket.subscribe(`${id}`, OWN, { id: 'x', text });
    }
    await socket.roundTrip();
    return true;
  } catch {
    return false;
  }
}

/** A socket; undefined if the pod refuses it, or has ended. */
async function open(t: TestContext, pod: PodProcess): Promise<Socket | undefined> {
  try {
    const socket = await openSocket(t, pod.url);
    await socket.init();
    return socket;
  } catch {
    return undefined;
  }
}

/** The counts that a subscriber has received. */
async function countsOf(socket: Socket): Promise<number[]> {
  const messages = await socket.take(socket.unread.length);
  return messages.map(({ payload }) => (payload as { data: { thing: { count: number } } }).data.thing.count);
}

/** A client that subscribes to the samples. */
async function subscribe(t: TestContext, pod: PodProcess): Promise<Socket> {
  const subscriber = await openSocket(t, pod.url);
  await subscriber.init();
  subscriber.subscribe('a', 'subscription { thing { count } }');
  return subscriber;
}

/** Checks that a subscriber has received every sample, in order. */
async function assertServed(subscriber: Socket): Promise<void> {
  const counts = await countsOf(subscriber);
  assert.ok(counts.length > 10);
  assert.deepEqual(
    counts,
    counts.map((_, index) => counts[0]! + index),
  );
  assert.ok(subscriber.isOpen);
}

describe('a pod whose clients keep more memory than it has', { timeout: 180_000 }, () => {
  it('refuses new sockets and is unready, serves the open ones, and admits again when these have left', async (t) => {
    const pod = await startSmallPod(t);
    const subscriber = await subscribe(t, pod);
    const sockets: Socket[] = [];
    const isShedding = async () => (await pod.metric('crier_refusals_total{reason="memory"}')) > 0;
    while (sockets.length < GREEDY_CLIENTS && !(await isShedding())) {
      const socket = await open(t, pod);
      if (!socket) continue;
      sockets.push(socket);
      await isServedGreedily(socket);
    }
    assert.ok(await isShedding(), pod.log);
    assert.equal(await pod.metric('crier_memory_guard_active'), 1);
    const { status, body } = await pod.readiness();
    assert.deepEqual([status, body['status'], body['reasons']], [503, 'overloaded', ['memory']]);

    for (const socket of sockets) socket.close();
    // Nobody allocates now: the guard itself collects the garbage.
    await pod.until('the recovery', async () => (await pod.metric('crier_memory_guard_active')) === 0);
    assert.equal((await pod.readiness()).status, 200);
    assert.ok(await open(t, pod));
    await assertServed(subscriber);
    assert.equal(await pod.stop(), 0);
  });

  it('closes the sockets that keep most when open ones fill the memory, and serves the others', async (t) => {
    const pod = await startSmallPod(t, { NODE_OPTIONS: `${HEAP_OPTIONS} ${PATIENT}` });
    const subscriber = await subscribe(t, pod);
    const sockets: Socket[] = [];
    while (sockets.length < GREEDY_CLIENTS) sockets.push((await open(t, pod))!);
    for (const socket of sockets) await isServedGreedily(socket);
    const closedSockets = () => sockets.filter(({ isOpen }) => !isOpen);
    await pod.until('the news of all closes', async () => {
      return (await pod.metric('crier_memory_guard_connections_closed_total')) === closedSockets().length;
    });
    const closed = closedSockets();
    assert.ok(closed.length > 0 && closed.length < GREEDY_CLIENTS, `${closed.length} of ${GREEDY_CLIENTS}\n${pod.log}`);
    for (const socket of closed)
      assert.deepEqual(await socket.expectClose(), { code: 1013, reason: 'The server is short of memory' });
    await assertServed(subscriber);
    assert.equal(await pod.stop(), 0);
  });

  it('ends at the limit of its heap without the guard', async (t) => {
    const pod = await startSmallPod(t, { MAX_HEAP_PERCENT: '0' });
    const isRunning = () => pod.process.exitCode === null && pod.process.signalCode === null;
    for (let client = 0; client < GREEDY_CLIENTS && isRunning(); client++) {
      const socket = await open(t, pod);
      if (socket) await isServedGreedily(socket);
    }
    assert.equal(await pod.ended, 'SIGABRT');
    assert.match(pod.log, /JavaScript heap out of memory/);
  });
});
