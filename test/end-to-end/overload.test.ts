import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { hungBackend } from '../graph/context/backend-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { metricOf } from '../support/metric.ts';
import { openSocket } from '../support/socket.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { block(ms: Int!): String }
    type Subscription { tick: Int @kafka(topic: "ticks") }
  `,
  'resolvers.js': `export const Query = {
    block: (_, { ms }) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  };`,
};
const REFUSALS = 'crier_refusals_total{reason="open_files"}';
/** Longer than the interval at which the lag is measured, 500 ms, and the lag of an overload, 1 s. */
const BLOCKED_MS = 2000;

async function assertOverloaded(pod: Pod, reason: string): Promise<void> {
  const { status, body } = await pod.readiness();
  assert.deepEqual([status, body['status'], body['reasons']], [503, 'overloaded', [reason]]);
}

const isReady = async (pod: Pod) => (await pod.readiness()).status === 200;

/** Opens TCP connections that ask for nothing. */
function connectIdly(t: TestContext, pod: Pod, count: number): void {
  const { hostname, port } = new URL(pod.endpoint);
  const idle = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => undefined));
  t.after(() => idle.forEach((socket) => socket.destroy()));
}

describe('an overloaded pod', () => {
  it('is unready while it has MAX_CONNECTIONS sockets, and ready when one has closed', async (t) => {
    const pod = await startPod(t, { MAX_CONNECTIONS: '1' });
    assert.ok(await isReady(pod));
    const socket = await openSocket(t, pod.url);
    await assertOverloaded(pod, 'connections');
    socket.close();
    await pod.until('readiness', () => isReady(pod));
    assert.ok((await openSocket(t, pod.url)).isOpen);
  });

  it('keeps open files for probes, and says that others have none, when clients open more sockets than it has files', async (t) => {
    const pod = await spawnPod(t, { MAX_CONNECTIONS: '1000' }, { maxOpenFiles: 256 }).started();
    const warning = pod.lines.find(({ msg }) => msg.startsWith('MAX_CONNECTIONS is more than'));
    // Of 256 files 100 are reserved, and of the others a tenth.
    assert.equal(warning?.['sockets'], 141);
    const clients = await Promise.all(Array.from({ length: 141 }, () => openSocket(t, pod.url)));
    const reason = 'Try again later: the server has as many connections as it may have open files for';
    assert.deepEqual(await (await openSocket(t, pod.url)).expectClose(), { code: 1013, reason });
    connectIdly(t, pod, 150);
    await pod.until('the refusals', async () => (await metricOf(pod.admin, REFUSALS)) > 130);
    await assertOverloaded(pod, 'connections');
    assert.equal((await fetch(`${pod.admin}/healthz`)).status, 200);
    assert.ok(pod.lines.some(({ reason, setting }) => reason === 'open_files' && setting === 'ulimit -n'));
    assert.ok(clients.every(({ isOpen }) => isOpen));
  });

  it('keeps open files for the sockets of its backends, too', async (t) => {
    const backend = await hungBackend(t);
    const settings = {
      GRAPH: join(process.cwd(), 'test', 'end-to-end', 'fixtures', 'drain'),
      BACKEND_HUNG_URL: backend.url,
      BACKEND_MAX_SOCKETS: '120',
      BACKEND_TIMEOUT_MS: '60000',
      EXECUTION_TIMEOUT_MS: '60000',
    };
    const pod = await spawnPod(t, settings, { maxOpenFiles: 512 }).started();
    const askBackend = async () => {
      const socket = await openSocket(t, pod.url);
      await socket.init();
      socket.subscribe('a', '{ hung }');
    };
    await Promise.all(Array.from({ length: 120 }, askBackend));
    await pod.until('the requests to the backend', () => Promise.resolve(backend.requests() === 120));
    connectIdly(t, pod, 500);
    await pod.until('the refusals', async () => (await metricOf(pod.admin, REFUSALS)) > 0);
    assert.equal((await fetch(`${pod.admin}/healthz`)).status, 200);
    assert.ok(await isReady(pod));
  });

  it('is unready and admits no socket while code of the graph blocks its event loop, and is ready when that ends', async (t) => {
    const pod = await spawnPod(t, { GRAPH: await graphFolder(t, GRAPH) }).started();
    assert.ok(await isReady(pod));
    await pod.until('the overload', async () => {
      const response = await fetch(`${pod.endpoint}?query={block(ms:${BLOCKED_MS})}`, {
        headers: { 'apollo-require-preflight': 'true' },
      });
      assert.deepEqual(await response.json(), { data: { block: 'timed-out' } });
      return !(await isReady(pod));
    });
    await assertOverloaded(pod, 'loop_lag');
    assert.deepEqual(await (await openSocket(t, pod.url)).expectClose(), {
      code: 1013,
      reason: 'Try again later: the server is overloaded',
    });
    await pod.until('readiness', () => isReady(pod));
    assert.ok((await openSocket(t, pod.url)).isOpen);
  });
});
