import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { metricOf } from '../support/metric.ts';
import { switchSettings } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';

const MAIN = join(process.cwd(), 'dist', 'src', 'main.js');
/** A hanging pod fails the test after this time, with its log. */
const PATIENCE_MS = 60_000;

export interface PodOptions {
  /** Arguments of the command line. */
  readonly arguments?: readonly string[];
  /** Working directory. */
  readonly folder?: string;
  /** The script. Default: that of this build. */
  readonly main?: string;
  /** File descriptors for the pod. `output` or `log` then stays empty. */
  readonly standardOutput?: number;
  readonly standardError?: number;
}

/** crier in its own process, as in production. Its environment holds only `settings`, the switches of the run, PATH and free local ports. */
export class Pod {
  readonly process: ChildProcess;
  /** Text written to standard output. */
  output = '';
  /** Text written to standard error. */
  log = '';
  /** Exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(settings: Readonly<Record<string, string>>, options: PodOptions = {}) {
    const { arguments: rest = [], folder, main = MAIN, standardOutput = 'pipe', standardError = 'pipe' } = options;
    this.process = spawn(process.execPath, ['--enable-source-maps', main, ...rest], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        DRAIN_DELAY_MS: '0',
        DRAIN_SPREAD_MS: '0',
        ...switchSettings(),
        ...settings,
      },
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

  /** `ws://host:port/graphql`, as printed. */
  get url(): string {
    return this.#printed(/ws:\S+/);
  }

  /** `http://host:port/graphql`, as printed. */
  get endpoint(): string {
    return this.#printed(/http:\S+\/graphql/);
  }

  /** `http://host:port` of the admin port, as printed. */
  get admin(): string {
    return this.#printed(/http:\S+(?=\/healthz)/);
  }

  /** Lines of the log. */
  get lines(): readonly LogLine[] {
    return this.log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Resolves when the pod has printed its addresses. */
  async started(): Promise<this> {
    await this.until('the banner', () => this.output.includes('Admin'));
    return this;
  }

  /** Status and body of `/readyz`. */
  async readiness(): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.admin}/readyz`);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Resolves when `/readyz` has these details. */
  async reports(details: Readonly<Record<string, unknown>>): Promise<void> {
    const wanted = JSON.stringify(details);
    const found = async () => {
      const { body } = await this.readiness();
      return JSON.stringify(Object.fromEntries(Object.keys(details).map((name) => [name, body[name]]))) === wanted;
    };
    await this.until(`${wanted} in /readyz`, found);
  }

  /** Resolves when a value of `/metrics` is at least `count`. `name` includes the labels. */
  async counts(name: string, count: number): Promise<void> {
    await this.until(`${name} ${count}`, async () => (await this.metric(name)) >= count);
  }

  /** A value of `/metrics`; 0 if it is absent. */
  metric(name: string): Promise<number> {
    return metricOf(this.admin, name);
  }

  /** Resolves when the condition is met. @throws Error with the pod's log when the pod ends first, or after a minute. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const isEnded = () => this.process.exitCode !== null || this.process.signalCode !== null;
    await waitFor(what, async () => isEnded() || (await condition()), PATIENCE_MS).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.log}`);
    });
    if (isEnded()) throw new Error(`crier ended while the test waited for ${what}\n${this.log}`);
  }

  /** Sends SIGTERM and resolves like `ended`. Sends SIGKILL after a minute. Idempotent. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE_MS);
    const ending = await this.ended;
    clearTimeout(timer);
    return ending;
  }

  #printed(pattern: RegExp): string {
    const found = pattern.exec(this.output)?.[0];
    if (found === undefined) throw new Error(`no match of ${String(pattern)} in the output:\n${this.output}`);
    return found;
  }
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Spawns a pod. It is killed at the end of the test. */
export function spawnPod(t: TestContext, settings: Readonly<Record<string, string>>, options?: PodOptions): Pod {
  const pod = new Pod(settings, options);
  t.after(async () => {
    pod.process.kill('SIGKILL');
    await pod.ended;
  });
  return pod;
}

/** Spawns a pod and waits until it has printed its addresses. */
export function startPod(t: TestContext, settings: Readonly<Record<string, string>>): Promise<Pod> {
  return spawnPod(t, settings).started();
}
