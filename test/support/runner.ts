import { relative } from 'node:path';
import { TestProcess } from './test-process.ts';
import type { FileReport, TestProcessOptions } from './test-process.ts';

export interface TestRunOptions extends TestProcessOptions {
  /** Compiled test files, the longest first. */
  readonly files: readonly string[];
  /** Those that need a process of their own. */
  readonly alone: ReadonlySet<string>;
  /** How many files run at the same time. */
  readonly concurrency: number;
  /** Called when a file has ended, also before it is run once more. */
  readonly onFile: (report: FileReport) => void;
}

export interface TestRun {
  /** The last report of each file. */
  readonly reports: readonly FileReport[];
  /** A line for each test that failed twice, and whatever else fails the run; empty when it passed. */
  readonly failures: readonly string[];
  /** A line for each test that failed, in a file that passed when it was run once more. */
  readonly flaky: readonly string[];
}

/** More flaky files than these are a fault of what they share. */
const MAX_FLAKY_FILES = 3;

/**
 * Runs test files in a few processes, each of which takes the next file when it has ended one. A file that fails runs once more, alone, after
 * the rest: if it passes, it is flaky.
 *
 * A file fails with a failed test, an unhandled rejection or uncaught exception at any time, a skipped test, and no test at all. The run
 * fails with a file that failed twice, and with a process or handle that outlives the tests.
 */
export async function runTestFiles(options: TestRunOptions): Promise<TestRun> {
  const run = new Run(options);
  for (let queue = [...options.files]; queue.length > 0 && !options.stop.aborted; queue = run.takeUnproven())
    await Promise.all(Array.from({ length: options.concurrency }, () => run.work(queue)));
  const flaky: string[] = [];
  let flakyFiles = 0;
  for (const [file, lines] of run.takeFailures()) {
    if (options.stop.aborted) break;
    await run.work([file]);
    if (run.failures.has(file)) continue;
    flakyFiles++;
    flaky.push(...lines);
  }
  const failures = [...run.failures.values()].flat().concat(run.others);
  if (flakyFiles > MAX_FLAKY_FILES) failures.push(`${flakyFiles} files are flaky; at most ${MAX_FLAKY_FILES} may be`);
  if (options.stop.aborted) failures.push('stopped');
  else if (run.reports.size < new Set(options.files).size) failures.push('not every file ran');
  if (options.files.length === 0) failures.push('no test ran');
  return { reports: [...run.reports.values()], failures, flaky };
}

class Run {
  /** Lines, by file. */
  readonly failures = new Map<string, string[]>();
  /** Lines of failures of no known file. */
  readonly others: string[] = [];
  readonly reports = new Map<string, FileReport>();
  /** A file that failed is not among them, so that their number falls with each time they run. */
  readonly #unproven: string[] = [];
  readonly #options: TestRunOptions;

  constructor(options: TestRunOptions) {
    this.#options = options;
  }

  /** Takes files from the queue until it is empty. */
  async work(queue: string[]): Promise<void> {
    const { alone, stop } = this.#options;
    let shared: TestProcess | undefined;
    for (let file = queue.shift(); file !== undefined && !stop.aborted; file = queue.shift()) {
      if (alone.has(file)) {
        const own = new TestProcess(this.#options);
        await this.#runIn(own, file);
        await this.#end(own);
      } else {
        shared ??= new TestProcess(this.#options);
        await this.#runIn(shared, file);
        if (shared.isRunning) continue;
        await this.#end(shared);
        shared = undefined;
      }
    }
    if (shared) await this.#end(shared);
  }

  /** Removes and returns the files that must run without those that failed. */
  takeUnproven(): string[] {
    return this.#unproven.splice(0);
  }

  /** Removes and returns the failures of files that can be run once more. */
  takeFailures(): [string, string[]][] {
    const failures = [...this.failures];
    this.failures.clear();
    return failures;
  }

  async #runIn(process: TestProcess, file: string): Promise<void> {
    const report = await process.run(file);
    this.reports.set(file, report);
    // A file that fails only in a process that others have used says which.
    const before = process.files.at(-2);
    const place = before === undefined ? '' : ` (after ${relative('', before)} in its process)`;
    const lines = report.failed.map(({ line }) => line + place);
    if (report.skipped > 0) lines.push(`${relative('', file)}: ${report.skipped} skipped: nothing is skipped here`);
    if (lines.length > 0) this.#fail(file, lines);
    this.#options.onFile(report);
  }

  async #end(process: TestProcess): Promise<void> {
    const { faults, unproven } = await process.end();
    this.#unproven.push(...unproven);
    for (const { file, line } of faults) {
      const compiled = file && this.#compiledFile(file);
      if (compiled) this.#fail(compiled, [line]);
      else if (!this.#options.stop.aborted) this.others.push(line);
    }
  }

  /** The file that was compiled from `test/a/b.test.ts`. */
  #compiledFile(source: string): string | undefined {
    return [...this.reports.keys()].find((file) => sourceOf(file) === source);
  }

  #fail(file: string, lines: readonly string[]): void {
    this.failures.set(file, [...(this.failures.get(file) ?? []), ...lines]);
  }
}

/** `test/a/b.test.ts` */
function sourceOf(file: string): string {
  return relative('', file)
    .replace(/^dist\/test[^/]*\//, 'test/')
    .replace(/\.js$/, '.ts');
}
