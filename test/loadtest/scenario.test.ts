import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ScenarioResult } from '../../loadtest/scenarios/result.ts';
import { groupMembers, signalGroup } from '../support/process-group.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';

const SMALL = ['--clients', '40', '--stock', '10', '--auctions', '20', '--rate', '40'];

/** The command in a process group of its own, with a Kafka and a Redis of its own. */
function startScenario(t: TestContext, flags: readonly string[]) {
  const name = randomName('scenario');
  const script = new URL('../../loadtest/loadtest.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, '--scenario', ...flags, ...SMALL, '--out', name], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = { child, output: '', files: `loadtest/results/${name}`, exited: once(child, 'exit') };
  const keep = (chunk: Buffer) => (run.output += chunk.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  t.after(async () => {
    signalGroup(child.pid!, 'SIGKILL');
    for (const ending of ['md', 'json']) await rm(`${run.files}.${ending}`, { force: true });
  });
  return run;
}

describe('npm run loadtest -- --scenario', () => {
  it('reconciles what clients got that come and go, writes the results and leaves no process behind', async (t) => {
    const run = startScenario(t, ['churn', '--seconds', '8', '--reconnect-seconds', '4']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const { fleet, faults, records } = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as ScenarioResult;
    assert.deepEqual(faults, []);
    assert.equal(records, 320);
    assert.ok(fleet.delivered > 0 && fleet.latency.count > 0, run.output);
    assert.equal(fleet.expected, fleet.delivered + fleet.missed);
    // Each of 40 clients about twice.
    assert.ok(fleet.reconnects.count > 40, run.output);
    assert.match(await readFile(`${run.files}.md`, 'utf8'), /No fault\./);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });

  it('ends with everything that it started on Ctrl-C, with two pods and a balancer', async (t) => {
    const run = startScenario(t, ['deploy', '--seconds', '600']);
    await waitFor('the window', () => /^deploy \d+\/600/m.test(run.output), 120_000);
    signalGroup(run.child.pid!, 'SIGINT');
    const [code] = (await run.exited) as [number];
    assert.equal(code, 130, run.output);
    assert.match(run.output, /stopped by SIGINT/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
