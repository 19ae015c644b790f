import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import type { PodProcess } from '../end-to-end/pod-process.ts';

/** A watchdog that fails leaves its process alive: the test then fails after this time, and kills it. */
const PATIENCE_MS = 60_000;
const WATCHDOG = pathToFileURL(join(process.cwd(), 'dist', 'src', 'ops', 'watchdog.js')).href;

/** A pod's settings, with a graph whose resolvers begin with `code`. `block` never lets the event loop turn again. */
async function settingsOf(t: TestContext, code: string): Promise<Record<string, string>> {
  const GRAPH = await graphFolder(t, {
    'schema.graphql': 'type Order { id: ID }\ntype Subscription { order: Order @kafka(topic: "orders") }',
    // Waits without using a core, which the other tests need.
    'resolvers.js': `const block = () => {
      process.stdout.write('blocked');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    };\n${code}`,
  });
  return { GRAPH, POD_NAME: 'stuck', SHUTDOWN_TIMEOUT_MS: '1000' };
}

/** A pod whose event loop runs `code` and never turns again. */
async function blockedPod(t: TestContext, code: string, settings: Record<string, string> = {}): Promise<PodProcess> {
  const pod = spawnPod(t, { ...(await settingsOf(t, code)), ...settings });
  await pod.until('the loop to block', () => pod.output.includes('blocked'));
  return pod;
}

/** Resolves when the watchdog has ended the pod. */
async function endedByWatchdog(pod: PodProcess): Promise<void> {
  await waitFor('the watchdog', () => pod.process.signalCode, PATIENCE_MS);
  assert.equal(await pod.ended, 'SIGKILL');
  const line = pod.lines.at(-1)!;
  assert.match(line.msg, /^the event loop is blocked/);
  assert.deepEqual([line.level, line['pod']], ['fatal', 'stuck']);
}

/** A process with a watchdog of 5 s that runs `code`. `block` stops the loop until the process receives a byte. It is killed at the end of the test. */
async function watchedProcess(t: TestContext, code: string) {
  const script = `
    import { readSync } from 'node:fs';
    import { startWatchdog } from '${WATCHDOG}';
    const watchdog = startWatchdog({ timeoutMs: 5000, facts: {}, format: 'json', onFailure: (error) => { throw error; } });
    const block = () => readSync(0, Buffer.alloc(1));
    process.stdout.write('started');
    ${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

describe('the watchdog', { concurrency: 3 }, () => {
  for (const [what, code] of [
    ['at the import of a module of the graph', 'block();'],
    ['in a callback of the graph', 'setTimeout(block, 500);'],
  ] as const) {
    it(`ends a pod whose event loop is blocked ${what}`, async (t) => {
      await endedByWatchdog(await blockedPod(t, code));
    });

    it(`ends a pod whose event loop is blocked ${what} before SIGTERM`, async (t) => {
      const pod = await blockedPod(t, code);
      pod.process.kill('SIGTERM');
      await endedByWatchdog(pod);
    });
  }

  it('leaves a pod alone while the inspector is open (twin: without the watchdog a blocked pod lives on)', async (t) => {
    const debugged = await blockedPod(t, 'block();', { NODE_OPTIONS: '--inspect=127.0.0.1:0' });
    await endedByWatchdog(await blockedPod(t, 'block();'));
    debugged.process.kill('SIGTERM');
    await endedByWatchdog(await blockedPod(t, 'block();'));
    assert.equal(debugged.process.signalCode, null);
    assert.equal(debugged.process.exitCode, null);
  });

  it('leaves a pod alone that was stopped for longer than the limit and is continued', async (t) => {
    const pod = await spawnPod(
      t,
      await settingsOf(t, `setInterval(() => process.stdout.write('turn;\\n'), 1000);`),
    ).started();
    pod.process.kill('SIGSTOP');
    await endedByWatchdog(await blockedPod(t, 'block();'));
    const turns = () => pod.output.split('turn;').length;
    const before = turns();
    pod.process.kill('SIGCONT');
    await pod.until('turns after the stop', () => turns() > before + 3);
    assert.equal(await pod.stop(), 0, pod.log);
  });

  it('leaves a process alone whose loop stands still after pause, and ends it without', async (t) => {
    const paused = await watchedProcess(t, 'watchdog.pause(); block(); process.exit(0);');
    const watched = await watchedProcess(t, 'block();');
    assert.equal(await waitFor('the watchdog', () => watched.signalCode, PATIENCE_MS), 'SIGKILL');
    paused.stdin.end('.');
    await waitFor('the exit', () => paused.exitCode !== null || paused.signalCode !== null, PATIENCE_MS);
    assert.equal(paused.exitCode, 0);
  });

  it('watches again after the turn that a pause announced', async (t) => {
    const child = await watchedProcess(t, 'watchdog.pause(); setTimeout(block, 3000);');
    assert.equal(await waitFor('the watchdog', () => child.signalCode, PATIENCE_MS), 'SIGKILL');
  });

  for (const [what, code] of [
    ['although its loop turns', 'setInterval(() => undefined, 100);'],
    ['although it pauses the watchdog again and again', 'setInterval(() => watchdog.pause(), 500);'],
  ] as const) {
    it(`ends a process that expects its end and lives on, ${what}`, async (t) => {
      const child = await watchedProcess(t, `watchdog.pause(); watchdog.expectEnd(); ${code}`);
      assert.equal(await waitFor('the watchdog', () => child.signalCode, PATIENCE_MS), 'SIGKILL');
    });
  }
});
