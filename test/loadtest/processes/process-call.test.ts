import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { callProcess } from '../../../loadtest/processes/process-call.ts';

describe('callProcess', () => {
  it('rejects when the process has exited, whether or not its exit has been seen', async (t) => {
    const child = spawn(process.execPath, ['-e', 'process.send("up"); setInterval(() => {}, 1000)'], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    t.after(() => child.kill('SIGKILL'));
    await once(child, 'message');
    child.kill('SIGKILL');
    const until = performance.now() + 300;
    // This event-loop turn does not see the exit event yet.
    while (performance.now() < until);
    assert.equal(child.signalCode, null);
    await assert.rejects(callProcess(child, 'anything'), /ended during "anything"/);
    await assert.rejects(callProcess(child, 'anything'), /ended during "anything"/);
  });
});
