import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { hungBackend } from '../graph/context/backend-server.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { Pipe } from '../support/pipe.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';

/** A pod that is not closed within SHUTDOWN_TIMEOUT_MS exits with 1, so an exit with 0 is one in time. */
const IN_TIME = 0;

const SCHEMA = `
  type Query { hung: String }
  type Order { text: String hung: String }
  type Subscription { order: Order @kafka(topic: "orders", payload: "order") }`;
const RESOLVERS = `
  const hung = (_, __, { backends }) => backends.hung.get('/');
  export const Query = { hung };
  export const Order = { hung };`;
const SAMPLES = `export function* records() {
  const value = { order: { text: 'x'.repeat(50_000), hung: null } };
  for (;;) yield { topic: 'orders', value };
}`;

/** A graph with an endless subscription of 50 KB each 20 ms, and a field that waits for the backend `hung`. */
async function settingsOf(t: TestContext): Promise<Record<string, string>> {
  const files = { 'schema.graphql': SCHEMA, 'resolvers.js': RESOLVERS, 'samples.js': SAMPLES };
  const GRAPH = await graphFolder(t, { ...files, 'context.js': `export const backends = ['hung'];` });
  return { GRAPH, SAMPLE_INTERVAL_MS: '20', SHUTDOWN_TIMEOUT_MS: '15000' };
}

async function connected(t: TestContext, { url }: Pod): Promise<Socket> {
  const socket = await openSocket(t, url);
  await socket.init();
  return socket;
}

/** A process with `count` stock clients that receive events. */
async function clientProcess(t: TestContext, url: string, count: number): Promise<ChildProcess> {
  const script = `
    import { createClient } from 'graphql-ws';
    import { WebSocket } from 'ws';
    let silent = ${count};
    for (let i = 0; i < ${count}; i++) {
      let isSilent = true;
      createClient({ url: '${url}', webSocketImpl: WebSocket }).subscribe({ query: 'subscription { order { text } }' }, {
        next() {
          if (isSilent && --silent === 0) process.stdout.write('receiving');
          isSilent = false;
        },
        error: (error) => { throw new Error(JSON.stringify(error)); },
        complete: () => undefined,
      });
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** A pod whose log fills a pipe that nobody reads: a line for the end of each of 400 sockets, with more than 64 KiB in all. */
async function podWithFullLog(t: TestContext, pipe: Pipe, settings: Record<string, string>): Promise<Pod> {
  const pod = spawnPod(t, { LOG_LEVEL: 'trace', ...settings }, { standardError: pipe.writer });
  await pod.started();
  await Promise.all(Array.from({ length: 400 }, () => openSocket(t, pod.url)));
  return pod;
}

describe('SIGTERM ends a pod in time with 0', () => {
  it('while the reader of its log is stopped and its drain fills the pipe (twin: with blocking writes only the watchdog ends it)', async (t) => {
    const settings = { DRAIN_SPREAD_MS: '1000', SHUTDOWN_TIMEOUT_MS: '15000' };
    const pod = await podWithFullLog(t, await Pipe.create(t), settings);
    assert.equal(await pod.stop(), IN_TIME);

    const code = encodeURIComponent('process.stderr._handle?.setBlocking(true)');
    const twin = { NODE_OPTIONS: `--import=data:text/javascript,${code}`, SHUTDOWN_TIMEOUT_MS: '1000' };
    const pipe = await Pipe.create(t);
    const blocked = await podWithFullLog(t, pipe, twin);
    // Its clients may be too slow for the lines of all sockets to come before its time is over.
    pipe.fill();
    assert.equal(await blocked.stop(), 'SIGKILL');
  });

  // Without both Gateway.close's `terminate` and the `closeTimeout` of ws, the pod waits for ever. Pings would end the sockets, too.
  it('while a client process is frozen with sockets open and events queued for it', async (t) => {
    const pod = await spawnPod(t, {
      ...(await settingsOf(t)),
      MAX_QUEUE_BYTES: '200000000',
      PING_INTERVAL_MS: '0',
    }).started();
    const clients = await clientProcess(t, pod.url, 5);
    clients.kill('SIGSTOP');
    await pod.counts('crier_queue_bytes', 5_000_000);
    assert.equal(await pod.stop(), IN_TIME, pod.log);
    const { sockets, closed, terminated } = pod.lines.find(({ msg }) => msg === 'sockets drained')!;
    assert.deepEqual({ sockets, closed, terminated }, { sockets: 5, closed: 5, terminated: 5 });
  });

  // Without the `closeAllConnections` of endServer, the pod waits for the backend's answer to the request over HTTP.
  it('while a backend that never answers has executions of events, queries and HTTP requests in flight', async (t) => {
    const backend = await hungBackend(t);
    const pod = await spawnPod(t, {
      ...(await settingsOf(t)),
      BACKEND_HUNG_URL: backend.url,
      ...{ BACKEND_TIMEOUT_MS: '3600000', EXECUTION_TIMEOUT_MS: '3600000' },
    }).started();
    const [querying, subscribed] = [await connected(t, pod), await connected(t, pod)];
    querying.subscribe('a', '{ hung }');
    subscribed.subscribe('a', 'subscription { order { hung } }');
    const request = fetch(pod.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ hung }"}',
    });
    await pod.until('requests of all three', () => backend.requests() >= 3);
    await pod.counts('crier_executions_in_flight', 1);
    const refused = assert.rejects(request);
    assert.equal(await pod.stop(), IN_TIME, pod.log);
    await refused;
    for (const socket of [querying, subscribed]) assert.equal((await socket.expectClose()).code, 1001);
  });
});
