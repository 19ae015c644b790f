import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openSocket } from '../support/socket.ts';
import { redisServer } from '../support/services.ts';
import { spawnPod } from './pod-process.ts';
import type { LogLine } from './pod.ts';
import { startPod } from './pod-server.ts';

const CLIENTS = 200;
/** Most lines of 200 hostile clients: each message is written once in 10 s. */
const MAX_LINES = 10;

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Subscription { thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }]) }
    type Thing { id: ID }
  `,
  'resolvers.ts': `
    export const Query = { hello: () => { throw new Error('no greeting'); } };
  `,
  'context.ts': `
    process.emitWarning('from the graph');
    export const authenticate = ({ params }: { params: Record<string, unknown> }) => {
      if (params['refuse']) throw new Error('refused by the graph');
      return {};
    };
  `,
};

describe('the log of a pod', () => {
  it('is one JSON object a line, with pod, role, version, level and time in each, also for a warning of Node', async (t) => {
    const folder = await graphFolder(t, GRAPH);
    const pod = await spawnPod(t, { GRAPH: folder, LOG_LEVEL: 'debug', POD_NAME: 'crier-7' }).started();
    const socket = await openSocket(t, pod.url);
    await socket.init();
    socket.close(1000);
    await pod.until('the end of the connection', () => pod.lines.some(({ msg }) => msg === 'connection ended'));
    assert.equal(await pod.stop(), 0);
    const lines = pod.log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { pod, role, version, level, time } of lines) {
      assert.deepEqual([pod, role], ['crier-7', 'all']);
      assert.match(version as string, /^\d+\.\d+\.\d+/);
      assert.match(level as string, /^(debug|info|warn)$/);
      assert.ok(!Number.isNaN(Date.parse(time as string)));
    }
    const warning = lines.find(({ msg }) => msg === 'a warning of Node');
    assert.deepEqual(warning?.['err'], { type: 'Warning', message: 'from the graph' });
  });

  it('is all that is printed with LOG_FORMAT=json, whatever ioredis, a graph and its modules print', async (t) => {
    const { url } = await redisServer(t);
    const folder = await graphFolder(t, {
      ...GRAPH,
      'context.ts': `
        import { log } from 'node:console';
        import { Writable } from 'node:stream';
        const { _stdout } = console as unknown as { _stdout: Writable };
        _stdout.write(Buffer.from('bytes — '));
        _stdout.write(new TextEncoder().encode('other bytes\\n'));
        new console.Console(new Writable({ write: () => console.log('a console of the graph') })).log('a line');
        log('a method of the module');
        console.log('%d from the graph', 2);
        console.table([{ a: 1 }]);
        console.error(new Error('a problem of the graph'));
      `,
    });
    const REDIS_URL = url.replace('//', '//:a-password-that-it-needs-not@');
    const settings = { GRAPH: folder, ROLE: 'gateway', REDIS_URL, LOG_FORMAT: 'json' };
    const pod = await spawnPod(t, settings).started();
    const textOf = (start: string) => pod.lines.find(({ msg }) => msg.startsWith(start));
    await pod.until("ioredis's warning", () => textOf('[WARN] This Redis server') !== undefined);
    assert.equal(await pod.stop(), 0);
    for (const line of `${pod.log}${pod.output}`.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line), 'object');
    const starts = ['bytes —', 'other bytes', 'a console of', 'a method of', '2 from the graph', '┌'];
    assert.deepEqual(
      starts.map(textOf).map((line) => [line?.level, line?.['stream']]),
      starts.map(() => ['info', 'stdout']),
    );
    const problem = textOf('Error: a problem of the graph');
    assert.deepEqual([problem?.level, problem?.['stream']], ['warn', 'stderr']);
  });

  it('has what a graph prints on standard error only, with LOG_LEVEL=warn', async (t) => {
    const folder = await graphFolder(t, {
      ...GRAPH,
      'context.ts': `console.log('of level info'); console.error('of level warn');`,
    });
    const pod = await spawnPod(t, { GRAPH: folder, LOG_FORMAT: 'json', LOG_LEVEL: 'warn' }).started();
    assert.equal(await pod.stop(), 0);
    assert.deepEqual(
      pod.lines.map(({ level, msg }) => [level, msg]).filter(([, msg]) => msg?.startsWith('of level')),
      [['warn', 'of level warn']],
    );
  });

  it('has one line for each process of a pod that cannot start, with LOG_FORMAT=json', async (t) => {
    const context = `
      import { Server } from 'node:http';
      Server.prototype.listen = () => { throw new Error('no port today'); };
    `;
    const settings = { PROCESSES: '2', ROLE: 'gateway', REDIS_URL: 'redis://127.0.0.1:1', LOG_FORMAT: 'json' };
    const pod = spawnPod(t, { ...settings, GRAPH: await graphFolder(t, { ...GRAPH, 'context.ts': context }) });
    assert.equal(await pod.ended, 1);
    const lines = pod.log.split('\n').slice(0, -1);
    const failures = lines.map((line) => JSON.parse(line) as LogLine).filter(({ level }) => level === 'fatal');
    const ofProcesses = failures.filter(({ process }) => process !== undefined);
    assert.deepEqual([...new Set(ofProcesses.map(({ process }) => process))].sort(), ['gateway-1', 'gateway-2']);
    for (const { msg, err } of ofProcesses) {
      assert.equal(msg, 'crier cannot start');
      assert.equal((err as Error).message, 'no port today');
    }
    assert.match(failures.at(-1)!.msg, /^crier cannot start$/);
  });

  for (const LOG_LEVEL of ['info', 'silent']) {
    const lastLine = async (t: TestContext, files: Readonly<Record<string, string>>): Promise<LogLine | undefined> => {
      const pod = spawnPod(t, { GRAPH: await graphFolder(t, files), LOG_FORMAT: 'json', LOG_LEVEL });
      assert.equal(await pod.ended, 1);
      const lines = pod.log.split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as LogLine).at(-1);
    };

    it(`has the mistakes of a graph that cannot be served, with LOG_FORMAT=json and LOG_LEVEL=${LOG_LEVEL}`, async (t) => {
      const line = await lastLine(t, { 'schema.graphql': 'type Subscription { a: Int }' });
      assert.equal(line?.level, 'fatal');
      assert.match(line.msg, /^schema\.graphql:1: Subscription\.a: has no source/);
    });

    it(`has why a pod ended, with LOG_LEVEL=${LOG_LEVEL}`, async (t) => {
      const files = { ...GRAPH, 'context.ts': `setTimeout(() => { throw new Error('of a timer'); }, 1);` };
      const line = await lastLine(t, files);
      assert.deepEqual([line?.level, line?.msg], ['fatal', 'uncaught exception']);
    });
  }

  it(`has at most ${MAX_LINES} lines about ${CLIENTS} hostile clients, and counts the suppressed ones (S-21)`, async (t) => {
    const pod = await startPod(t, { GRAPH: await graphFolder(t, GRAPH) });
    const before = pod.lines.length;
    const attacks = [
      async () => {
        const socket = await openSocket(t, pod.url);
        socket.send({ type: 'connection_init', payload: { refuse: true } });
        assert.equal((await socket.expectClose()).code, 4403);
      },
      async () => {
        const socket = await openSocket(t, pod.url);
        socket.send('}{');
        assert.equal((await socket.expectClose()).code, 4400);
      },
      async () => {
        const socket = await openSocket(t, pod.url);
        await socket.init();
        socket.subscribe('a', '{ hello }');
        assert.equal((await socket.next()).type, 'next');
        socket.close(1000);
      },
      async () => {
        const body = '{"query":"{ hello }"}';
        await fetch(pod.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
        await fetch(pod.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' });
      },
    ];
    for (let i = 0; i < CLIENTS; i += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => attacks[n % attacks.length]!()));
    }
    const lines = pod.lines.slice(before);
    const messages = new Set(lines.map(({ msg }) => msg));
    for (const message of [
      'an error was kept from the client, which received "Internal server error" and this errorId',
      'authenticate failed; the connection is refused',
    ])
      assert.ok(messages.has(message), message);
    assert.ok(lines.length <= MAX_LINES, `${lines.length} lines`);
  });
});
