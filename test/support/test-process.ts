import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { groupMembers, signalGroup } from './process-group.ts';
import type { FailedTest, FileReport, WorkerMessage } from './test-reporter.ts';
import type { WorkerOrder } from './test-worker.ts';

const WORKER = join(import.meta.dirname, 'test-worker.js');
const REPORTER = join(import.meta.dirname, 'test-reporter.js');
/** Default of `endMs`. */
const END_MS = 10_000;

export interface TestProcessOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Longest time for one file, in ms. */
  readonly timeoutMs: number;
  /** How long what the tests have started may take to end after them, in ms. Default: 10,000. */
  readonly endMs?: number;
  /** Where the tests' own output goes. */
  readonly stdio: 'inherit' | 'ignore';
  /** Ends the process and everything that its tests have started. */
  readonly stop: AbortSignal;
}

/** A process that runs test files, one after the other, in a process group of its own, of which nothing is left afterwards. */
export class TestProcess {
  readonly #options: TestProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | string>;
  readonly #killGroup: () => void;
  readonly #late: { file: string | undefined; line: string }[] = [];
  #onReport: ((report: FileReport) => void) | undefined;

  constructor(options: TestProcessOptions) {
    this.#options = options;
    const child = fork(WORKER, {
      execArgv: ['--enable-source-maps', `--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout'],
      stdio: ['ignore', options.stdio, options.stdio, 'ipc'],
      detached: true,
      // Set inside of a test, where node:test would report to its parent.
      env: { ...options.environment, NODE_TEST_CONTEXT: undefined },
    });
    this.#child = child;
    this.#killGroup = () => signalGroup(child.pid!, 'SIGKILL');
    process.once('exit', this.#killGroup);
    options.stop.addEventListener('abort', this.#stop, { once: true });
    this.#exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? signal ?? ''));
    });
    child.on('message', (message: WorkerMessage) => {
      if ('report' in message) return this.#onReport?.(message.report);
      if ('late' in message) return void this.#late.push({ file: message.file, line: message.late });
      this.#late.push({
        file: undefined,
        line: `a test left something open: ${[...new Set(message.open)].join(', ')}`,
      });
      this.#killGroup();
    });
  }

  /** Runs one file. A file that does not end in time, or ends the process, fails; the process is over then. */
  async run(file: string): Promise<FileReport> {
    const startedAt = performance.now();
    const report = new Promise<FileReport>((resolve) => (this.#onReport = resolve));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`did not end within ${this.#options.timeoutMs} ms`), this.#options.timeoutMs);
    });
    const exit = this.#exited.then((code) => `ended its process (${code})`);
    this.#child.send({ file } satisfies WorkerOrder, () => undefined);
    const outcome = await Promise.race([report, timeout, exit]);
    clearTimeout(timer);
    if (typeof outcome !== 'string') return outcome;
    this.#killGroup();
    await this.#exited;
    return failedFile(file, outcome, (performance.now() - startedAt) / 1000);
  }

  /** True until the process has ended. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Ends the process, once nothing keeps it alive. Resolves with what is wrong with it: errors after the end of a test, by file where it is
   * known, and what was left running or open.
   */
  async end(): Promise<{ file: string | undefined; line: string }[]> {
    if (this.isRunning)
      this.#child.send({ endMs: this.#options.endMs ?? END_MS } satisfies WorkerOrder, () => undefined);
    await this.#exited;
    const left = await groupMembers(this.#child.pid!, 2000);
    if (left.length > 0) this.#late.push({ file: undefined, line: `left running by a test: ${left.join('; ')}` });
    this.#killGroup();
    process.removeListener('exit', this.#killGroup);
    this.#options.stop.removeEventListener('abort', this.#stop);
    return this.#late;
  }

  readonly #stop = () => {
    signalGroup(this.#child.pid!, 'SIGTERM');
    setTimeout(this.#killGroup, END_MS).unref();
  };
}

function failedFile(file: string, reason: string, seconds: number): FileReport {
  const failed: FailedTest[] = [{ line: `${file}: ${reason}`, text: '' }];
  return { file, tests: 0, suites: 0, skipped: 0, failed, titles: [], seconds, cpuSeconds: 0, processes: 0 };
}
