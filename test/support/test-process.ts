import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join, relative } from 'node:path';
import { groupMembers, signalGroup } from './process-group.ts';
import type { FailedTest, FileCounts, WorkerMessage } from './test-reporter.ts';
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
  /** Ends the process and everything that its tests have started. */
  readonly stop: AbortSignal;
}

/** Characters of a file's own output that are kept, the last ones. */
const MAX_OUTPUT = 64 * 1024;

export interface FileReport extends FileCounts {
  /** The end of what the file has printed. */
  readonly output: string;
}

/** A process that runs test files, one after the other, in a process group of its own, of which nothing is left afterwards. */
export class TestProcess {
  readonly #options: TestProcessOptions;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | string>;
  readonly #killGroup: () => void;
  readonly #late: { file: string | undefined; line: string }[] = [];
  readonly #files: string[] = [];
  #onReport: ((counts: FileCounts) => void) | undefined;
  /** True if the process may end with another code than 0: the runner ended it, or has reported why. */
  #isExplained = false;
  /** What a failed test leaves open is a part of its failure. Its file runs once more, and that run shows whether the file leaves something. */
  #hasFailed = false;
  #output = '';

  constructor(options: TestProcessOptions) {
    this.#options = options;
    const child = fork(WORKER, {
      execArgv: ['--enable-source-maps', `--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      // Set inside of a test, where node:test would report to its parent.
      env: { ...options.environment, NODE_TEST_CONTEXT: undefined },
    });
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-MAX_OUTPUT)));
    this.#killGroup = () => {
      this.#isExplained = true;
      signalGroup(child.pid!, 'SIGKILL');
    };
    process.once('exit', this.#killGroup);
    options.stop.addEventListener('abort', this.#stop, { once: true });
    this.#exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? signal ?? ''));
    });
    child.on('message', (message: WorkerMessage) => {
      if ('report' in message) return this.#onReport?.(message.report);
      if ('late' in message) return void this.#late.push({ file: message.file, line: message.late });
      // A test may send messages, too.
      if (!('open' in message)) return;
      const open = message.open.map(([kind, since]) => kind + (since ? ` since ${relative('', since)}` : ''));
      if (!this.#hasFailed)
        this.#late.push({ file: undefined, line: `a test left something open: ${open.join(', ')}` });
      this.#killGroup();
    });
  }

  /** Files that have run here, in order. */
  get files(): readonly string[] {
    return this.#files;
  }

  /** Runs one file. A file that does not end in time, or ends the process, fails; the process is over then. */
  async run(file: string): Promise<FileReport> {
    const startedAt = performance.now();
    this.#output = '';
    const before = this.#files.at(-1);
    this.#files.push(file);
    const report = new Promise<FileCounts>((resolve) => (this.#onReport = resolve));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`did not end within ${this.#options.timeoutMs} ms`), this.#options.timeoutMs);
    });
    const exit = this.#exited.then((code) => `ended its process (${code})`);
    this.#child.send({ file } satisfies WorkerOrder, () => undefined);
    const outcome = await Promise.race([report, timeout, exit]);
    clearTimeout(timer);
    if (typeof outcome !== 'string') {
      if (outcome.failed.length > 0) this.#isExplained = this.#hasFailed = true;
      return { ...outcome, output: this.#output };
    }
    // What an earlier file has begun may have ended the process, and this one would pass when it runs once more.
    if (outcome.startsWith('ended') && before !== undefined)
      this.#late.push({ file: undefined, line: `${relative('', file)}: ${outcome}, after ${relative('', before)}` });
    this.#killGroup();
    await this.#exited;
    const seconds = (performance.now() - startedAt) / 1000;
    return { ...failedFile(file, outcome, seconds), output: this.#output };
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
    const endMs = this.#options.endMs ?? END_MS;
    if (this.isRunning) this.#child.send({ endMs } satisfies WorkerOrder, () => undefined);
    // The process itself reports what is open, unless its event loop is blocked.
    const timer = setTimeout(() => {
      this.#late.push({ file: undefined, line: `the process of the tests did not end: ${this.#lastFiles()}` });
      this.#killGroup();
    }, 2 * endMs);
    const code = await this.#exited;
    clearTimeout(timer);
    if (code !== 0 && !this.#isExplained && this.#late.length === 0) {
      this.#late.push({ file: undefined, line: `the process of the tests ended with ${code}: ${this.#lastFiles()}` });
    }
    const left = await groupMembers(this.#child.pid!, 2000);
    if (left.length > 0 && !this.#hasFailed)
      this.#late.push({ file: undefined, line: `left running by a test: ${left.join('; ')}` });
    this.#killGroup();
    process.removeListener('exit', this.#killGroup);
    this.#options.stop.removeEventListener('abort', this.#stop);
    return this.#late;
  }

  /** Most likely the last file did it. */
  #lastFiles(): string {
    const names = this.#files.slice(-3).map((file) => relative('', file));
    return `its last files were ${names.join(', ')}${this.#output === '' ? '' : `; it printed ${this.#output.slice(-500)}`}`;
  }

  readonly #stop = () => {
    this.#isExplained = true;
    signalGroup(this.#child.pid!, 'SIGTERM');
    setTimeout(this.#killGroup, END_MS).unref();
  };
}

function failedFile(file: string, reason: string, seconds: number): FileCounts {
  const failed: FailedTest[] = [{ line: `${relative('', file)}: ${reason}`, text: '' }];
  return { file, tests: 0, suites: 0, skipped: 0, failed, titles: [], seconds, cpuSeconds: 0, processes: 0 };
}
