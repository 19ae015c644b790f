import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { endedNodeLine } from '../../src/config/node-line.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { fromNow, signWith } from '../gateway/identity/identity-provider.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { spawnPod } from './pod-process.ts';
import type { PodProcess } from './pod-process.ts';

const SECRET = 's'.repeat(32);
const CLIENTS = 4;
/** Ends of a session, of which Kafka learns after KAFKA_SESSION_TIMEOUT_MS, and starts of processes on a busy machine. */
const PATIENCE_MS = 90_000;

interface Tick {
  readonly data: { readonly tick: number };
  readonly extensions?: { readonly gap?: boolean };
}

/** Pids of the processes that a pod has started. */
async function childrenOf({ process: { pid } }: PodProcess): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z ');
  return !status.includes(' Z ');
}

/** Pid of a process of the pod, by its name. */
async function pidOf(pod: PodProcess, name: string): Promise<number> {
  for (const pid of await childrenOf(pod)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(`CRIER_PROCESS=${name}`)) return pid;
  }
  throw new Error(`no process ${name}`);
}

async function getJson(pod: PodProcess, path: string, body?: object): Promise<Record<string, unknown>> {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${pod.admin}${path}`, init)).json()) as Record<string, unknown>;
}

describe('a pod with PROCESSES=2', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  async function settingsOf(t: TestContext, topic: string, redisUrl: string) {
    const schema = `type Query { me: String } type Subscription { tick: Int @kafka(topic: "${topic}", payload: "at") }`;
    return {
      PROCESSES: '2',
      GRAPH: await graphFolder(t, { 'schema.graphql': schema }),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: randomName('group'),
      KAFKA_DEAD_LETTER_TOPIC: randomName('dead'),
      KAFKA_SESSION_TIMEOUT_MS: '6000',
      REDIS_URL: redisUrl,
      CHANNEL_PREFIX: randomName(),
      JWT_SECRET: SECRET,
      JWT_AUDIENCE: 'crier',
      POD_NAME: 'pod',
    };
  }

  it('delivers, is operated, survives the end of each process and drains as one', { timeout: 300_000 }, async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const redis = await redisServer(t);
    const pod = await spawnPod(t, await settingsOf(t, topic, redis.url)).started();
    let written = 0;
    const write = async (count: number) => {
      const values = Array.from({ length: count }, () => JSON.stringify({ at: ++written }));
      await outside.send(
        topic,
        values.map((value) => ({ value })),
      );
    };
    const open = async (sub: string): Promise<Socket> => {
      const socket = await openSocket(t, pod.url, { patienceMs: PATIENCE_MS });
      await socket.init({
        token: await signWith(new TextEncoder().encode(SECRET), { sub, exp: fromNow(3600) }, { alg: 'HS256' }),
      });
      socket.subscribe('1', 'subscription { tick }');
      return socket;
    };
    const ticksOf = ({ unread }: Socket) => unread.map(({ payload }) => (payload as Tick).data.tick);
    const allAre = (sockets: readonly Socket[], last: number) =>
      waitFor(`tick ${last} at each`, () => sockets.every((socket) => ticksOf(socket).at(-1) === last), PATIENCE_MS);
    const sockets: Socket[] = [];
    /** The connections of a client, by the process that serves it. */
    const served = async (): Promise<Map<string, string>> => {
      const { connections } = await getJson(pod, '/debug/connections?by=operations');
      const rows = connections as { readonly process: string; readonly connection: string }[];
      return new Map(rows.map(({ process, connection }) => [connection, process]));
    };

    await t.test('delivers through both gateways, which take connections in turn', async () => {
      for (let i = 0; i < CLIENTS; i++) sockets.push(await open('ida'));
      await pod.counts('crier_subscriptions{field="tick"}', CLIENTS);
      await write(3);
      await allAre(sockets, 3);
      assert.deepEqual(
        sockets.map(ticksOf),
        Array.from(sockets, () => [1, 2, 3]),
      );
      const { connections } = await getJson(pod, '/admin/connections?sub=ida');
      assert.deepEqual((connections as { readonly pod: string }[]).map((row) => row.pod).toSorted(), [
        'pod/gateway-1',
        'pod/gateway-1',
        'pod/gateway-2',
        'pod/gateway-2',
      ]);
    });

    await t.test('merges its metrics, and labels what is of one process', async () => {
      assert.equal(await pod.metric('crier_connections'), CLIENTS);
      assert.equal(await pod.metric(`crier_records_consumed_total{topic="${topic}"}`), 3);
      assert.equal(await pod.metric('crier_deliveries_total'), 3 * CLIENTS);
      for (const name of ['gateway-1', 'gateway-2', 'worker']) {
        assert.equal(await pod.metric(`crier_process_up{process="${name}"}`), 1);
        assert.ok((await pod.metric(`crier_heap_used_ratio{process="${name}"}`)) > 0);
      }
    });

    await t.test('writes whole lines of a log, each with the name of its process', () => {
      const lines = pod.lines.filter(({ msg }) => msg !== endedNodeLine(process.version));
      const names = new Set(lines.map((line) => line['process']));
      assert.deepEqual([...names].toSorted(), ['gateway-1', 'gateway-2', 'worker']);
    });

    await t.test('forwards to the process that ?process= names, and says which there are', async () => {
      const tunables = await getJson(pod, '/debug/tunables?process=worker');
      assert.equal(tunables['rejected'], 0);
      const profile = await fetch(`${pod.admin}/debug/profile/heap-sampling?seconds=1`, { method: 'POST' });
      assert.deepEqual(
        [profile.status, await profile.text()],
        [400, 'process: expected one of main, gateway-1, gateway-2, worker\n'],
      );
      for (const name of ['main', 'gateway-2']) {
        const path = `/debug/profile/heap-sampling?seconds=1&process=${name}`;
        assert.ok('head' in (await getJson(pod, path, {})), name);
      }
      const { pods } = await getJson(pod, '/admin/reload', {});
      assert.deepEqual(
        (pods as { readonly pod: string; readonly outcome: string }[])
          .map((row) => `${row.pod} ${row.outcome}`)
          .toSorted(),
        ['pod/gateway-1 unchanged', 'pod/gateway-2 unchanged', 'pod/worker unchanged'],
      );
    });

    await t.test('replaces a worker that is killed, and no client misses a record or receives one twice', async () => {
      process.kill(await pidOf(pod, 'worker'), 'SIGKILL');
      await write(5);
      await allAre(sockets, written);
      assert.deepEqual(
        sockets.map(ticksOf),
        Array.from(sockets, () => [1, 2, 3, 4, 5, 6, 7, 8]),
      );
      assert.ok(sockets.every(({ isOpen }) => isOpen));
      assert.equal(await pod.metric('crier_process_ends_total{process="worker"}'), 1);
    });

    await t.test('replaces a gateway that is killed, while the clients of the other are served on', async () => {
      const delivered = await pod.metric('crier_deliveries_total');
      assert.equal(delivered, CLIENTS * written);
      process.kill(await pidOf(pod, 'gateway-1'), 'SIGKILL');
      await waitFor('the end of its clients', () => sockets.filter(({ isOpen }) => !isOpen).length === 2);
      const { status } = await pod.readiness();
      assert.equal(status, 200, 'the other gateway serves');
      const staying = sockets.filter(({ isOpen }) => isOpen);
      await write(1);
      await allAre(staying, written);
      assert.ok((await pod.metric('crier_deliveries_total')) >= delivered, 'a counter does not fall');
      await pod.counts('crier_process_up{process="gateway-1"}', 1);
      sockets.splice(
        0,
        CLIENTS,
        ...staying,
        await open('ida'),
        await open('ida'),
        await open('ida'),
        await open('bob'),
      );
      await pod.counts('crier_subscriptions{field="tick"}', 6);
      assert.equal(new Set((await served()).values()).size, 2, 'the replacement takes connections, too');
      await write(1);
      await allAre(sockets, written);
    });

    await t.test('revokes the connections of every process, also while Redis is away', async () => {
      await redis.stop();
      await waitFor('the outage', async () => JSON.stringify((await pod.readiness()).body).includes('"bus":"away"'));
      const reply = await getJson(pod, '/admin/connections/revoke', { sub: 'ida' });
      assert.equal(reply['closed'], 5);
      await waitFor('the closes', () => sockets.filter(({ isOpen }) => isOpen).length === 1);
    });

    await t.test('drains all processes on SIGTERM and ends with 0', async () => {
      const pids = await childrenOf(pod);
      assert.equal(pids.length, 3);
      assert.equal(await pod.stop(), 0);
      assert.deepEqual(await Promise.all(pids.map(isRunning)), [false, false, false]);
      assert.equal((await sockets.at(-1)!.expectClose()).code, 1001);
      const closed = pod.lines.filter(({ msg }) => msg === 'closed').map((line) => line['process']);
      assert.deepEqual(closed.toSorted(), ['gateway-1', 'gateway-2', 'worker', undefined]);
    });
  });

  it('ends with 0 on SIGTERM while its processes start, and leaves none of them', async (t) => {
    const redis = await redisServer(t);
    const pod = spawnPod(t, await settingsOf(t, 'none', redis.url));
    await pod.until('processes', async () => (await childrenOf(pod)).length === 3);
    const pids = await childrenOf(pod);
    assert.equal(await pod.stop(), 0);
    assert.deepEqual(await Promise.all(pids.map(isRunning)), [false, false, false]);
  });

  it('says once what a person has to fix, and ends with 1', async (t) => {
    const redis = await redisServer(t);
    const settings = await settingsOf(t, 'none', redis.url);
    const pod = spawnPod(t, { ...settings, GRAPH: '/no/such/folder' });
    assert.equal(await pod.ended, 1);
    assert.equal(pod.log.match(/crier: /g)?.length, 1);
    assert.match(pod.log, /^crier: .*\/no\/such\/folder/m);
  });
});
