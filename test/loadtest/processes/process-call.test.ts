import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { callProcess } from '../../../loadtest/processes/process-call.ts';

describe('a call of another process', () => {
  it('is rejected where that has ended, whether or not we know it yet', async (t) => {
    const child = spawn(process.execPath, ['-e', 'process.send("up"); setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'message');
    child.kill('SIGKILL');
    const until = performance.now() + 300;
    // Its end is an event, which this turn of the event loop does not see.
    while (performance.now() < until);
    assert.equal(child.signalCode, null);
    await assert.rejects(callProcess(child, 'anything'), /ended during "anything"/);
    await assert.rejects(callProcess(child, 'anything'), /ended during "anything"/);
  });
});
