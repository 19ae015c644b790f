import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { signalGroup } from '../support/process-group.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';

const PRINT_TIMEOUT_MS = 120_000;

export interface LoadTestCommand {
  readonly child: ChildProcess;
  /** Standard output and standard error. */
  output: string;
  /** Path of its results, without the extension. */
  readonly files: string;
  readonly exited: Promise<unknown[]>;
  /** Waits until its output matches. @throws Error with the output if it ends before that, or after 2 minutes. */
  printed(pattern: RegExp): Promise<void>;
}

/** Starts `npm run loadtest`, or another scenario, in its own process group. It and its results are removed after the test. */
export function startLoadTest(t: TestContext, flags: readonly string[], scenario = 'loadtest'): LoadTestCommand {
  const name = randomName('load-test');
  const script = new URL('../../loadtest/bench.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, scenario, ...flags, '--out', name], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = async (pattern: RegExp) => {
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    const isOver = () => pattern.test(run.output) || hasEnded();
    await waitFor('a line', isOver, PRINT_TIMEOUT_MS).catch(() => undefined);
    if (pattern.test(run.output)) return;
    const state = hasEnded() ? `ended with ${child.exitCode ?? child.signalCode}` : 'is still running';
    // The last line comes first: CI's summary shows the beginning of a message.
    const lines = run.output.trim().split('\n');
    assert.fail(`printed no ${String(pattern)} and ${state}; the last line first:\n${lines.toReversed().join('\n')}`);
  };
  const run = { child, output: '', files: `loadtest/results/${name}`, exited: once(child, 'exit'), printed };
  const keep = (chunk: Buffer) => (run.output += chunk.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  t.after(async () => {
    signalGroup(child.pid!, 'SIGKILL');
    for (const ending of ['svg', 'json', 'md']) await rm(`${run.files}.${ending}`, { force: true });
  });
  return run;
}
