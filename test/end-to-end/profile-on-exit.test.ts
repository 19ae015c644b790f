import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { CpuProfile } from '../../src/ops/profiling/cpu-profile.ts';
import { checked } from '../ops/check/checked.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { startRefusal } from './pod-server.ts';

/** A graph that keeps the CPU busy under a name of its own. */
const GRAPH = {
  'schema.graphql': 'type Tick { at: Int } type Subscription { tick: Tick @kafka(topic: "ticks") }',
  'samples.js': `
    let texts = [];
    function burnForTheGraph() {
      const end = performance.now() + 20;
      while (performance.now() < end) texts = Array.from({ length: 1000 }, (_, index) => index + ' of ' + end);
    }
    export function* records() {
      for (let at = 0; ; at++) {
        burnForTheGraph();
        yield { topic: 'ticks', value: { at } };
      }
    }
  `,
};
const CRASHING_GRAPH = {
  ...GRAPH,
  'samples.js': GRAPH['samples.js'].replace(
    'yield {',
    `if (at === 20) setImmediate(() => { throw new Error('of the graph'); });
        yield {`,
  ),
};

const settingsOf = async (t: TestContext, target: string, more: Readonly<Record<string, string>> = {}) => ({
  GRAPH: await graphFolder(t, GRAPH),
  SAMPLE_INTERVAL_MS: '5',
  POD_NAME: '../web 1',
  PROFILE_ON_EXIT: target,
  ...more,
});

const NAME = /^crier-..-web-1-all-[\w.-]+-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;

/** The directory has one profile, of a pod that ran the graph. */
async function assertWhole(folder: string): Promise<void> {
  const [name = '', ...others] = await readdir(folder);
  assert.deepEqual([others, name.endsWith('.cpuprofile')], [[], true]);
  assert.match(name.replace(/\.\w+$/, ''), NAME);
  assertProfile(await readFile(join(folder, name), 'utf8'));
}

function assertProfile(json: string): void {
  const { nodes, samples, timeDeltas } = JSON.parse(json) as CpuProfile;
  const hits = (name: string) =>
    nodes.filter(({ callFrame }) => callFrame.functionName === name).reduce((sum, one) => sum + (one.hitCount ?? 0), 0);
  assert.ok(hits('burnForTheGraph') > 0);
  assert.equal(samples.length, timeDeltas.length);
  // It began before the server did. Each of these may be too short to be in a sample.
  const start = ['startServer', 'buildGraph', 'buildGraphSchema', 'compileGraph', 'readConfig', 'configOf'];
  assert.ok(nodes.some(({ callFrame }) => start.includes(callFrame.functionName)));
}

/** Resolves when the graph has run for a while. */
const hasRun = (pod: Pod) => pod.counts('crier_records_consumed_total{topic="ticks"}', 20);

const lineOf = (pod: Pod, msg: string) => pod.lines.find((line) => line.msg === msg);
const WRITTEN = 'the profile of PROFILE_ON_EXIT is written';
const LOST = 'the profile of PROFILE_ON_EXIT is lost';

async function startStore(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bucket/key?signature=hunter2`;
}

describe('PROFILE_ON_EXIT', { concurrency: 2 }, () => {
  it('writes a profile of the whole life into the directory after SIGTERM', async (t) => {
    const folder = await temporaryFolder(t);
    const pod = await spawnPod(t, await settingsOf(t, folder)).started();
    await hasRun(pod);
    assert.equal(await pod.stop(), 0);
    await assertWhole(folder);
    const { file, bytes } = lineOf(pod, WRITTEN)!;
    assert.deepEqual([(await readdir(folder)).includes(String(file)), Number(bytes) > 1000], [true, true]);
    assert.equal(pod.lines.at(-1)?.msg, 'closed');
  });

  it('writes it after a second signal, too', async (t) => {
    const folder = await temporaryFolder(t);
    const pod = await spawnPod(t, await settingsOf(t, folder, { DRAIN_DELAY_MS: '50000' })).started();
    await hasRun(pod);
    pod.process.kill('SIGTERM');
    await pod.until('the drain', () => lineOf(pod, 'closing') !== undefined);
    assert.equal(await pod.stop(), 0);
    await assertWhole(folder);
  });

  it('writes it when an uncaught exception ends the pod', async (t) => {
    const folder = await temporaryFolder(t);
    const pod = spawnPod(t, await settingsOf(t, folder, { GRAPH: await graphFolder(t, CRASHING_GRAPH) }));
    assert.equal(await pod.ended, 1);
    assert.ok(lineOf(pod, 'uncaught exception'));
    await assertWhole(folder);
  });

  it('sends it to a URL by PUT, whose query no line of the log has', async (t) => {
    const bodies: Promise<string>[] = [];
    const url = await startStore(t, (request, response) => {
      bodies.push(text(request));
      void bodies.at(-1)!.then(() => response.end());
    });
    const pod = await spawnPod(t, await settingsOf(t, url)).started();
    await hasRun(pod);
    assert.equal(await pod.stop(), 0);
    assert.equal(bodies.length, 1);
    assertProfile(await bodies[0]!);
    assert.ok(lineOf(pod, WRITTEN));
    assert.doesNotMatch(pod.log, /hunter2/);
  });

  it('exits with 0 before its deadline, with one line, when the URL never answers', async (t) => {
    const url = await startStore(t, () => undefined);
    const pod = await spawnPod(t, await settingsOf(t, url, { SHUTDOWN_TIMEOUT_MS: '8000' })).started();
    await hasRun(pod);
    // The deadline would exit with 1.
    assert.equal(await pod.stop(), 0);
    assert.equal(lineOf(pod, LOST)?.['reason'], 'not written within 2000 ms');
    assert.doesNotMatch(pod.log, /hunter2|not closed within/);
  });

  it('does not hold up a third signal', async (t) => {
    const url = await startStore(t, () => pod.process.kill('SIGTERM'));
    const pod = await spawnPod(t, await settingsOf(t, url, { SHUTDOWN_TIMEOUT_MS: '50000' })).started();
    await hasRun(pod);
    pod.process.kill('SIGTERM');
    await pod.until('the drain', () => lineOf(pod, 'closing') !== undefined);
    // The store's request, which is never answered, sends the third.
    pod.process.kill('SIGTERM');
    assert.equal(await pod.ended, 1);
    assert.equal(lineOf(pod, LOST), undefined);
  });

  it('records beside a CPU profile for the admin port, and writes the whole life', async (t) => {
    const folder = await temporaryFolder(t);
    const pod = await spawnPod(t, await settingsOf(t, folder)).started();
    const record = () => fetch(`${pod.admin}/debug/profile/cpu?seconds=1`, { method: 'POST' });
    let response = await record();
    // A pod whose event loop is late records none.
    await pod.until('a profile', async () => response.status === 200 || (response = await record()).status === 200);
    assert.match(await response.text(), /burnForTheGraph/);
    assert.equal(await pod.stop(), 0);
    await assertWhole(folder);
  });

  it('stops the start, and fails crier check, when nothing can be written to the directory', async (t) => {
    const line = /^.*PROFILE_ON_EXIT: expected a directory .* but "\/does\/not\/exist" does not exist$/m;
    const settings = await settingsOf(t, '/does/not/exist');
    const pod = spawnPod(t, settings);
    assert.equal(await pod.ended, 1);
    assert.match(pod.log, line);
    const { hasFailed, lines } = await checked(settings);
    assert.equal(hasFailed, true);
    assert.match(lines.join('\n'), line);
    const refusal = await startRefusal(t, { ...settings, PROFILE_ON_EXIT: 'ftp://store/key?signature=hunter2' });
    assert.match(refusal, /PROFILE_ON_EXIT: expected .* but its URL does not begin with http:\/\/ or https:\/\/$/m);
    assert.doesNotMatch(refusal, /hunter2/);
  });
});
