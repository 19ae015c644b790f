import { spawn } from 'node:child_process';
import { signalGroup } from '../support/process-group.ts';
import type { Sandbox } from './sandbox.ts';

export type Verdict = 'passed' | 'failed' | 'timed out';

export interface TestRun {
  readonly verdict: Verdict;
  readonly ms: number;
  /** The start of the failure's message. */
  readonly output: string;
}

/** Limit of the kept output of a failed run, in characters. */
const MAX_OUTPUT = 2000;

/** Runs one compiled test file (`bus/redis/redis-bus.test.js`) in a process group of its own, which is killed at the first failure. */
export async function runTestFile(
  sandbox: Sandbox,
  file: string,
  { environment, timeoutMs, stop }: { environment: NodeJS.ProcessEnv; timeoutMs: number; stop: AbortSignal },
): Promise<TestRun> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--enable-source-maps', '--test-reporter=tap', `dist/test/${file}`], {
    cwd: sandbox.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // Set when this process runs inside a test; the file would then report to a parent.
    env: { ...environment, TMPDIR: sandbox.temporary, NODE_TEST_CONTEXT: undefined },
  });
  const group = child.pid!;
  let verdict: Verdict | undefined;
  let output = '';
  const end = (early?: Verdict) => {
    verdict ??= early;
    signalGroup(group, 'SIGKILL');
  };
  const read = (chunk: string) => {
    output += chunk;
    const failure = /^ *not ok .*/m.exec(output);
    if (failure && output.length > failure.index + MAX_OUTPUT) output = output.slice(0, failure.index + MAX_OUTPUT);
    // The line is complete, so the file has failed.
    if (failure && output.indexOf('\n', failure.index) > 0) end('failed');
    if (!failure && output.length > 2 * MAX_OUTPUT) output = output.slice(-MAX_OUTPUT);
  };
  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.resume();
  const timer = setTimeout(() => end('timed out'), timeoutMs);
  const onExit = () => end();
  process.once('exit', onExit);
  stop.addEventListener('abort', onExit, { once: true });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearTimeout(timer);
  process.removeListener('exit', onExit);
  stop.removeEventListener('abort', onExit);
  signalGroup(group, 'SIGKILL');
  stop.throwIfAborted();
  return { verdict: verdict ?? (code === 0 ? 'passed' : 'failed'), ms: performance.now() - startedAt, output };
}
