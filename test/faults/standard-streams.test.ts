import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { freePorts } from '../../stack/port.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { Pipe } from '../support/pipe.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from '../end-to-end/pod.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';

const SHUTDOWN_TIMEOUT_MS = '10000';

function readSlowly(pipe: Pipe, t: TestContext): void {
  const timer = setInterval(() => pipe.read(100), 50);
  t.after(() => clearInterval(timer));
}

/** Faults of a pipe, set up before the pod starts or while it runs. */
const STATES: readonly (readonly [
  string,
  { readonly before?: (pipe: Pipe) => void; readonly during?: (pipe: Pipe, t: TestContext) => void },
])[] = [
  ['has no reader from the start', { before: (pipe) => pipe.closeReader() }],
  ['loses its reader', { during: (pipe) => pipe.closeReader() }],
  ['is full', { before: (pipe) => pipe.fill() }],
  ['is full and loses its reader', { before: (pipe) => pipe.fill(), during: (pipe) => pipe.closeReader() }],
  ['is read slowly', { before: (pipe) => pipe.fill(), during: readSlowly }],
];

async function isAlive(pod: Pod): Promise<boolean> {
  return (await fetch(`${pod.admin}/healthz`, { signal: AbortSignal.timeout(5_000) })).ok;
}

/** A graph whose module keeps the process alive, as an open Redis client would. */
function graphWithHandle(t: TestContext, code: string): Promise<string> {
  return graphFolder(t, {
    'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
    'resolvers.js': `setInterval(() => undefined, 60_000);\n${code}`,
  });
}

const FATAL = 'setTimeout(() => { throw new Error("of the graph"); }, 100);';
/** Modules with resolvers for fields that the schema does not have. */
const REFUSED = `export const Order = { ordre_id: () => '1' };`;
const REFUSED_AT_LENGTH = `export const Order = Object.fromEntries(
  Array.from({ length: 2000 }, (_, i) => ['a_field_with_a_long_name_that_is_not_there_' + i, () => 1]),
);`;

describe('standard error', { concurrency: 2 }, () => {
  for (const [state, { before, during }] of STATES) {
    const spawnInState = async (t: TestContext, settings: Readonly<Record<string, string>>) => {
      const pipe = await Pipe.create(t);
      before?.(pipe);
      const pod = spawnPod(t, { LOG_LEVEL: 'trace', ...settings }, { standardError: pipe.writer });
      return { pipe, pod };
    };

    it(`that ${state}: the pod answers, and SIGTERM drains it with 0`, async (t) => {
      const { pipe, pod } = await spawnInState(t, { SHUTDOWN_TIMEOUT_MS });
      await pod.started();
      during?.(pipe, t);
      assert.ok(await isAlive(pod));
      const startedAt = performance.now();
      assert.equal(await pod.stop(), 0);
      assert.ok(performance.now() - startedAt < Number(SHUTDOWN_TIMEOUT_MS), 'within SHUTDOWN_TIMEOUT_MS');
    });

    it(`that ${state}: the pod answers while it drains, and a second SIGTERM ends the drain`, async (t) => {
      const { pipe, pod } = await spawnInState(t, { DRAIN_DELAY_MS: '3600000' });
      await pod.started();
      during?.(pipe, t);
      const client = await openSocket(t, pod.url);
      await client.init();
      client.pause();
      pod.process.kill('SIGTERM');
      await waitFor('readiness to turn', async () => (await pod.readiness()).status === 503);
      assert.ok(await isAlive(pod));
      pod.process.kill('SIGTERM');
      assert.equal(await pod.ended, 0);
    });

    it(`that ${state}: a fatal error ends the pod with 1`, async (t) => {
      const GRAPH = await graphWithHandle(t, FATAL);
      const { pipe, pod } = await spawnInState(t, { GRAPH });
      during?.(pipe, t);
      assert.equal(await pod.ended, 1);
    });

    it(`that ${state}: a setup error ends the pod with 1, even if the graph's module holds a timer`, async (t) => {
      const { pipe, pod } = await spawnInState(t, { GRAPH: await graphWithHandle(t, REFUSED) });
      during?.(pipe, t);
      assert.equal(await pod.ended, 1);
    });
  }

  it('without a reader: dropped lines are counted in /metrics', async (t) => {
    const pipe = await Pipe.create(t);
    pipe.closeReader();
    // The graph has no samples, so the start logs a warning.
    const GRAPH = await graphWithHandle(t, '');
    const pod = await spawnPod(t, { GRAPH }, { standardError: pipe.writer }).started();
    await pod.counts('crier_log_lines_dropped_total', 1);
  });

  it("gets the whole text of a setup error before the pod ends, even if the graph's module holds a timer", async (t) => {
    const pod = spawnPod(t, { GRAPH: await graphWithHandle(t, REFUSED) });
    assert.equal(await pod.ended, 1);
    assert.match(pod.log, /^crier: .*resolvers\.js: .*ordre_id.*\n$/);
  });

  it('gets the whole text of a setup error that its pipe accepts only in parts', async (t) => {
    const pipe = await Pipe.create(t);
    pipe.fill();
    const GRAPH = await graphWithHandle(t, REFUSED_AT_LENGTH);
    const pod = spawnPod(t, { GRAPH }, { standardError: pipe.writer });
    let text = '';
    const reading = setInterval(() => (text += pipe.read()), 20);
    const code = await pod.ended;
    // The interval must end before the test closes the pipe.
    clearInterval(reading);
    assert.equal(code, 1);
    text += pipe.read();
    assert.match(text, /that_is_not_there_1999[^\n]*\n$/);
  });
});

describe('standard output', { concurrency: 2 }, () => {
  for (const [state, { before, during }] of STATES) {
    it(`that ${state}: the pod answers /healthz, and SIGTERM drains it with 0`, async (t) => {
      const pipe = await Pipe.create(t);
      before?.(pipe);
      const [port] = await freePorts(1);
      const pod = spawnPod(t, { ADMIN_PORT: `${port}` }, { standardOutput: pipe.writer });
      const url = `http://127.0.0.1:${port}`;
      await pod.until('readiness', async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok ?? false);
      during?.(pipe, t);
      assert.ok((await fetch(`${url}/healthz`)).ok);
      assert.equal(await pod.stop(), 0);
    });
  }

  it('that is closed ends --help with 0', async (t) => {
    const pipe = await Pipe.create(t);
    pipe.closeReader();
    const pod = spawnPod(t, {}, { arguments: ['--help'], standardOutput: pipe.writer });
    assert.equal(await pod.ended, 0);
    assert.equal(pod.log, '');
  });
});
