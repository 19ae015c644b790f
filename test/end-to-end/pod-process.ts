import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { PATIENCE_MS, Pod, podEnvironment } from './pod.ts';

const MAIN = join(process.cwd(), 'dist', 'src', 'main.js');

export interface PodOptions {
  /** Arguments of the command line. */
  readonly arguments?: readonly string[];
  /** Working directory. */
  readonly folder?: string;
  /** The script. Default: that of this build. */
  readonly main?: string;
  /** The program and what precedes the arguments. Default: Node with the script. */
  readonly command?: readonly string[];
  /** File descriptors for the pod. `output` or `log` then stays empty. */
  readonly standardOutput?: number;
  readonly standardError?: number;
  /** Its limit of open files. Default: that of the test. */
  readonly maxOpenFiles?: number;
}

/** crier in its own process, as in production. Its environment holds PATH and nothing else of the test's. */
export class PodProcess extends Pod {
  readonly process: ChildProcess;
  /** Exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(settings: Readonly<Record<string, string>>, options: PodOptions = {}) {
    super();
    const { arguments: rest = [], folder, main = MAIN, standardOutput = 'pipe', standardError = 'pipe' } = options;
    const { command = [process.execPath, '--enable-source-maps', main] } = options;
    const words = [...command, ...rest];
    // `exec`: the limit is of the shell, and of Node in its place.
    if (options.maxOpenFiles) words.unshift('sh', '-c', `ulimit -n ${options.maxOpenFiles} && exec "$0" "$@"`);
    this.process = spawn(words[0]!, words.slice(1), {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...podEnvironment(settings) },
      stdio: ['ignore', standardOutput, standardError],
    });
    this.process.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.process.stderr?.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    const killWithParent = () => this.process.kill('SIGKILL');
    process.once('exit', killWithParent);
    this.ended = new Promise((resolve) =>
      this.process.once('close', (code, signal) => {
        process.removeListener('exit', killWithParent);
        resolve(code ?? signal!);
      }),
    );
  }

  get isEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  protected get addresses(): Readonly<Record<string, string>> {
    return this.#ready()?.addresses ?? {};
  }

  /** Resolves when the pod has printed its addresses. */
  async started(): Promise<this> {
    await this.until('the line `ready`', () => this.#ready() !== undefined);
    return this;
  }

  /** Sends SIGTERM and resolves like `ended`. Sends SIGKILL after a minute. Idempotent. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE_MS);
    const ending = await this.ended;
    clearTimeout(timer);
    return ending;
  }

  /** The line that the pod prints when it has started. */
  #ready(): { readonly addresses: Readonly<Record<string, string>> } | undefined {
    const line = /^.*"msg":"ready"\}$/m.exec(this.output)?.[0];
    return line === undefined ? undefined : (JSON.parse(line) as { addresses: Record<string, string> });
  }
}

/** Spawns a pod: for a test of what belongs to a process, such as its signals, exit code, streams and memory. It is killed at the test's end. */
export function spawnPod(t: TestContext, settings: Readonly<Record<string, string>>, options?: PodOptions): PodProcess {
  const pod = new PodProcess(settings, options);
  t.after(async () => {
    pod.process.kill('SIGKILL');
    await pod.ended;
  });
  return pod;
}
