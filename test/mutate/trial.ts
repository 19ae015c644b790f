import { availableParallelism } from 'node:os';
import type { Candidate, Candidates } from './candidates.ts';
import { inOrderFor } from './folders.ts';
import { applyMutant } from './mutants.ts';
import { recordReach } from './reach.ts';
import { Sandbox } from './sandbox.ts';
import { runTestFile } from './test-file.ts';

export interface Outcome {
  readonly candidate: Candidate;
  readonly result: 'killed' | 'timed out' | 'survived' | 'not reached';
  /** The test file that failed. */
  readonly by: string | undefined;
}

/** Result of a test file on the unchanged source. */
interface Unmutated {
  readonly file: string;
  readonly ms: number;
  /** Functions that the test file calls, as `<source file>:<index>`. */
  readonly reached: ReadonlySet<string>;
}

export interface TrialOptions {
  readonly candidates: Candidates;
  /** `bus/redis/redis-bus.test.js`, in dist/test. */
  readonly testFiles: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/** Time limit of a test file on the unchanged source. */
const MAX_UNMUTATED_MS = 5 * 60_000;
/** A test file times out on a mutant after this many times its usual time, plus `SLACK_MS`. */
const MAX_SLOWDOWN = 3;
const SLACK_MS = 10_000;

/** Runs the tests against each mutant, with one mutant per core at a time. */
export async function runTrial(options: TrialOptions): Promise<Outcome[]> {
  const sandboxes: Sandbox[] = [];
  try {
    for (let count = 0; count < availableParallelism(); count++) sandboxes.push(await Sandbox.create(process.cwd()));
    options.say(`${options.testFiles.length} test files without a mutant`);
    const tests = await runUnmutated(sandboxes, options);
    return await runMutants(sandboxes, tests, options);
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.remove()));
  }
}

/** Runs the test files on the unchanged source. @throws Error naming a test file that fails. */
async function runUnmutated(sandboxes: readonly Sandbox[], options: TrialOptions): Promise<Unmutated[]> {
  const { sources } = options.candidates;
  for (const sandbox of sandboxes) {
    for (const { file, text, parsed } of sources) {
      await sandbox.replace(file, recordReach(file, text, parsed, sandbox.record));
    }
  }
  const tests = await shareOut(sandboxes, options.testFiles, async (sandbox, file) => {
    const { verdict, ms, output } = await runTestFile(sandbox, file, { ...options, timeoutMs: MAX_UNMUTATED_MS });
    await sandbox.clean();
    if (verdict !== 'passed') throw new Error(`${file} ${verdict} without a mutant:\n${output}`);
    return { file, ms, reached: await sandbox.takeRecord() };
  });
  for (const sandbox of sandboxes) for (const { file, text } of sources) await sandbox.replace(file, text);
  return tests;
}

async function runMutants(
  sandboxes: readonly Sandbox[],
  tests: readonly Unmutated[],
  options: TrialOptions,
): Promise<Outcome[]> {
  const { sample } = options.candidates;
  let done = 0;
  let alive = 0;
  return shareOut(sandboxes, sample, async (sandbox, candidate) => {
    const { source, mutant, change } = candidate;
    const outcome = await runMutant(sandbox, candidate, tests, options);
    done += 1;
    if (outcome.by === undefined) alive += 1;
    const location = `${mutant.file}:${change.line} ${mutant.kind}`;
    options.say(
      `${done}/${sample.length}, ${alive} alive: ${location}: ${outcome.result} ${outcome.by ?? ''}`.trimEnd(),
    );
    await sandbox.replace(source.file, source.text);
    return outcome;
  });
}

async function runMutant(
  sandbox: Sandbox,
  candidate: Candidate,
  tests: readonly Unmutated[],
  options: TrialOptions,
): Promise<Outcome> {
  const { source, mutant } = candidate;
  const enclosing = `${mutant.file}:${mutant.functionIndex}`;
  const reaching = tests.filter(({ reached }) => reached.has(enclosing));
  if (reaching.length === 0) return { candidate, result: 'not reached', by: undefined };
  await sandbox.replace(source.file, applyMutant(source.text, mutant));
  for (const file of inOrderFor(source.file, reaching)) {
    const { ms } = reaching.find((test) => test.file === file)!;
    const timeoutMs = ms * MAX_SLOWDOWN + SLACK_MS;
    const { verdict } = await runTestFile(sandbox, file, { ...options, timeoutMs });
    await sandbox.clean();
    if (verdict !== 'passed') return { candidate, result: verdict === 'failed' ? 'killed' : 'timed out', by: file };
  }
  return { candidate, result: 'survived', by: undefined };
}

/** Results in the order of `items`. Each sandbox works on one item at a time. Rejects once the items in progress have ended. */
async function shareOut<T, R>(
  sandboxes: readonly Sandbox[],
  items: readonly T[],
  work: (sandbox: Sandbox, item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const ends = sandboxes.map(async (sandbox) => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, item] = next;
      try {
        results[index] = await work(sandbox, item);
      } catch (error) {
        queue.length = 0;
        throw error;
      }
    }
  });
  for (const outcome of await Promise.allSettled(ends)) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}
