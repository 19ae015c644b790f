import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startRemote } from '../../../loadtest/processes/process-call.ts';
import type { DutyCycle } from '../../../loadtest/story/pods/duty-cycle.ts';
import { waitFor } from '../../support/wait-for.ts';

const SCRIPT = 'story/pods/duty-cycle.js';

describe('a duty cycle', () => {
  it('stops and continues a process, and leaves it running at the end', async (t) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    const isStopped = () => / T /.test(readFileSync(`/proc/${child.pid!}/stat`, 'utf8'));
    const cycle = startRemote<DutyCycle>(SCRIPT, t);
    await cycle.start(child.pid!);
    for (const state of ['stopped', 'running', 'stopped']) {
      await waitFor(`the process is ${state}`, () => isStopped() === (state === 'stopped'), 30_000);
    }
    await cycle.end();
    assert.equal(isStopped(), false);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM']);
  });

  it('ends after its process has ended', async (t) => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const cycle = startRemote<DutyCycle>(SCRIPT, t);
    await cycle.start(child.pid!);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await cycle.end();
  });
});
