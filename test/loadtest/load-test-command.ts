import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { signalGroup } from '../support/process-group.ts';
import { randomName } from '../support/services.ts';

export interface LoadTestCommand {
  readonly child: ChildProcess;
  /** Standard output and standard error. */
  output: string;
  /** Path of its results, without the extension. */
  readonly files: string;
  readonly exited: Promise<unknown[]>;
}

/** Starts `npm run loadtest` in its own process group. It and its results are removed after the test. */
export function startLoadTest(t: TestContext, flags: readonly string[]): LoadTestCommand {
  const name = randomName('load-test');
  const script = new URL('../../loadtest/loadtest.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...flags, '--out', name], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = { child, output: '', files: `loadtest/results/${name}`, exited: once(child, 'exit') };
  const keep = (chunk: Buffer) => (run.output += chunk.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  t.after(async () => {
    signalGroup(child.pid!, 'SIGKILL');
    for (const ending of ['html', 'svg', 'json', 'md']) await rm(`${run.files}.${ending}`, { force: true });
  });
  return run;
}
