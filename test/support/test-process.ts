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

/** How a process of tests has ended. */
export interface ProcessEnd {
  /** Errors after the end of a test, by source file where it is known, and what was left running or open. */
  readonly faults: readonly { readonly file: string | undefined; readonly line: string }[];
  /** Files that passed, but may be at fault for how the process ended, after others had failed: they must run without those. */
  readonly unproven: readonly string[];
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
  /** The runner has killed the process: how it ends says nothing. */
  #isKilled = false;
  /** Files that failed. What the process leaves open may be a part of their failure. */
  readonly #failed = new Set<string>();
  #isDoubtful = false;
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
      this.#isKilled = true;
      signalGroup(child.pid!, 'SIGKILL');
    };
    process.once('exit', this.#killGroup);
    options.stop.addEventListener('abort', this.#stop, { once: true });
    this.#exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? signal ?? ''));
    });
    // A test may send messages, too.
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null) this.#take(message as WorkerMessage);
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
      if (outcome.failed.length > 0) this.#failed.add(file);
      return { ...outcome, output: this.#output };
    }
    this.#failed.add(file);
    // node:test names errors after the end of a test only when the process ends by itself.
    this.#isDoubtful = true;
    this.#killGroup();
    await this.#exited;
    const seconds = (performance.now() - startedAt) / 1000;
    return { ...failedFile(file, outcome, seconds), output: this.#output };
  }

  #take(message: WorkerMessage): void {
    if ('report' in message) {
      const { file } = message.report;
      if (file === this.#files.at(-1)) this.#onReport?.(message.report);
      else this.#late.push({ file: undefined, line: `"${file}" is no test of a suite of its file` });
    } else if ('late' in message) this.#late.push({ file: message.file, line: message.late });
    else if ('open' in message) {
      const open = message.open.map(([kind, since]) => kind + (since ? ` since ${relative('', since)}` : ''));
      this.#blame(`a test left something open: ${open.join(', ')}`);
      this.#killGroup();
    }
  }

  /** A fault of a file that is not known. If one has failed, the fault may be a part of its failure, or of another file. */
  #blame(line: string): void {
    if (this.#failed.size > 0) this.#isDoubtful = true;
    else this.#late.push({ file: undefined, line });
  }

  /** True until the process has ended. */
  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends the process, once nothing keeps it alive. */
  async end(): Promise<ProcessEnd> {
    const endMs = this.#options.endMs ?? END_MS;
    if (this.isRunning) this.#child.send({ endMs } satisfies WorkerOrder, () => undefined);
    // The process itself reports what is open, unless its event loop is blocked.
    const timer = setTimeout(() => {
      this.#blame(`the process of the tests did not end: ${this.#lastFiles()}`);
      this.#killGroup();
    }, 2 * endMs);
    const code = await this.#exited;
    clearTimeout(timer);
    // node:test ends a process with 1 for a failed test, and for an error after the end of one.
    const isTold = code === 1 && (this.#failed.size > 0 || this.#late.length > 0);
    if (code !== 0 && !isTold && !this.#isKilled)
      this.#blame(`the process of the tests ended with ${code}: ${this.#lastFiles()}`);
    const left = await groupMembers(this.#child.pid!, endMs);
    if (left.length > 0) this.#blame(`left running by a test: ${left.join('; ')}`);
    this.#killGroup();
    process.removeListener('exit', this.#killGroup);
    this.#options.stop.removeEventListener('abort', this.#stop);
    const others = this.#files.filter((file) => !this.#failed.has(file));
    return { faults: this.#late, unproven: this.#isDoubtful ? others : [] };
  }

  /** Most likely the last file did it. */
  #lastFiles(): string {
    const names = this.#files.slice(-3).map((file) => relative('', file));
    return `its last files were ${names.join(', ')}${this.#output === '' ? '' : `; it printed ${this.#output.slice(-500)}`}`;
  }

  readonly #stop = () => {
    this.#isKilled = true;
    signalGroup(this.#child.pid!, 'SIGTERM');
    setTimeout(this.#killGroup, END_MS).unref();
  };
}

function failedFile(file: string, reason: string, seconds: number): FileCounts {
  const failed: FailedTest[] = [{ line: `${relative('', file)}: ${reason}`, text: '' }];
  return { file, tests: 0, suites: 0, skipped: 0, failed, titles: [], seconds, cpuSeconds: 0, processes: 0 };
}
