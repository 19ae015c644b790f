import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupMembers, signalGroup } from './process-group.ts';

const FAILURE_REPORTER = join(import.meta.dirname, 'failure-reporter.js');

export interface NodeTestOptions {
  readonly files: readonly string[];
  /** How many test files run at the same time. */
  readonly concurrency: number;
  /** Longest time for one test file, in ms. */
  readonly timeoutMs: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Ends the tests and everything they started. */
  readonly stop: AbortSignal;
  /** Where the spec report goes. */
  readonly stdio: 'inherit' | 'ignore';
}

export interface NodeTestResult {
  /** node's closing lines: `# tests 3`, `# pass 2`, `# fail 1`, ... */
  readonly closingLines: readonly string[];
  /** A line for each failed test, as the failure reporter writes it. */
  readonly failedTests: readonly string[];
  /** Why the run failed; empty when it passed. */
  readonly failures: readonly string[];
}

/**
 * Runs test files with `node --test`, in a process group of their own, of which nothing is left afterwards. It fails with a
 * failed test, an unhandled rejection or uncaught exception at any time (node's own doing), a skipped test, no test at
 * all, and a process that outlives the tests.
 */
export async function runNodeTests(options: NodeTestOptions): Promise<NodeTestResult> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-tests-'));
  try {
    const report = join(folder, 'report.tap');
    const failures: string[] = [];
    const failed = join(folder, 'failed.txt');
    const { code, group } = await runNode(options, report, failed);
    if (code !== 0) failures.push(options.stop.aborted ? 'stopped' : `node --test ended with ${code}`);
    const left = await groupMembers(group, 2000);
    if (left.length > 0) failures.push(`left running by a test: ${left.join('; ')}`);
    signalGroup(group, 'SIGKILL');
    const closingLines = closingLinesOf(await readFile(report, 'utf8').catch(() => ''));
    if (countOf(closingLines, 'tests') === 0) failures.push('no test ran');
    for (const kind of ['skipped', 'todo']) {
      if (countOf(closingLines, kind) > 0)
        failures.push(`${countOf(closingLines, kind)} ${kind}: nothing is skipped here`);
    }
    return { closingLines, failedTests: await linesOf(failed), failures };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runNode(options: NodeTestOptions, report: string, failed: string) {
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      '--test',
      `--test-concurrency=${options.concurrency}`,
      `--test-timeout=${options.timeoutMs}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=tap',
      `--test-reporter-destination=${report}`,
      `--test-reporter=${FAILURE_REPORTER}`,
      `--test-reporter-destination=${failed}`,
      ...options.files,
    ],
    {
      stdio: ['ignore', options.stdio, options.stdio],
      detached: true,
      // Set inside of a test, where node --test would run nothing.
      env: { ...options.environment, NODE_TEST_CONTEXT: undefined },
    },
  );
  const group = child.pid!;
  const killWithParent = () => signalGroup(group, 'SIGKILL');
  process.once('exit', killWithParent);
  let timer: NodeJS.Timeout | undefined;
  const onStop = () => {
    signalGroup(group, 'SIGTERM');
    timer = setTimeout(killWithParent, 10_000);
  };
  options.stop.addEventListener('abort', onStop, { once: true });
  if (options.stop.aborted) onStop();
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? signal ?? ''));
  });
  clearTimeout(timer);
  options.stop.removeEventListener('abort', onStop);
  process.removeListener('exit', killWithParent);
  return { code, group };
}

async function linesOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean);
}

/** The last of each kind: a test may print such a line itself. */
function closingLinesOf(tap: string): string[] {
  const lines = new Map<string, string>();
  for (const [line, kind] of tap.matchAll(/^# (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/gm)) {
    lines.set(kind!, line);
  }
  return [...lines.values()];
}

function countOf(closingLines: readonly string[], kind: string): number {
  return Number(closingLines.find((line) => line.startsWith(`# ${kind} `))?.split(' ')[2] ?? 0);
}
