import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { StoryResult } from '../../loadtest/story/result.ts';
import { groupMembers, signalGroup } from '../support/process-group.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';

/** The command in a process group of its own, with a Kafka and a Redis of its own. */
function startLoadtest(t: TestContext, flags: readonly string[]) {
  const name = randomName('story');
  const script = new URL('../../loadtest/loadtest.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, '--out', name, '--sockets', '50', ...flags], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = { child, output: '', files: `loadtest/results/${name}`, exited: once(child, 'exit') };
  const keep = (chunk: Buffer) => (run.output += chunk.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  t.after(async () => {
    signalGroup(child.pid!, 'SIGKILL');
    for (const ending of ['html', 'svg', 'json']) await rm(`${run.files}.${ending}`, { force: true });
  });
  return run;
}

describe('npm run loadtest', () => {
  it('reconciles a flood by kcat, writes the report and leaves no process behind', async (t) => {
    const run = startLoadtest(t, ['--bare', '1', '--idle', '1', '--flood', '3']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const result = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as StoryResult;
    const { produced, delivered } = result.flood;
    assert.deepEqual(result.faults, []);
    assert.ok(produced > 0, run.output);
    assert.equal(delivered, produced * 50);
    assert.deepEqual(
      result.phases.map(({ name }) => name),
      ['bare', 'idle', 'flood', 'drain'],
    );
    assert.ok(result.samples.every(({ heapUsedBytes, residentBytes }) => heapUsedBytes < residentBytes));
    assert.match(await readFile(`${run.files}.html`, 'utf8'), /Reconciled/);
    assert.match(await readFile(`${run.files}.svg`, 'utf8'), /^<svg/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });

  it('ends with everything that it started on Ctrl-C in the flood', async (t) => {
    const run = startLoadtest(t, ['--producer', 'kafkajs', '--bare', '1', '--idle', '1', '--flood', '600']);
    await waitFor('the flood', () => /^flood/m.test(run.output), 120_000);
    signalGroup(run.child.pid!, 'SIGINT');
    const [code] = (await run.exited) as [number];
    assert.equal(code, 130, run.output);
    assert.match(run.output, /stopped by SIGINT/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
