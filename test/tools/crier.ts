import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { waitFor } from '../support/wait-for.ts';

const PATIENCE_MS = 60_000;

/** `crier <args>` with an environment of `settings` and PATH only. It is killed at the end of the test. */
export class Crier {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  output = '';
  errors = '';
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(t: TestContext, args: readonly string[], settings: Readonly<Record<string, string>> = {}) {
    this.process = spawn(process.execPath, ['--enable-source-maps', 'dist/src/main.js', ...args], {
      env: { PATH: process.env['PATH'], ...settings },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process.stdout.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.process.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = new Promise((resolve) => this.process.once('close', (code, signal) => resolve(code ?? signal!)));
    t.after(() => void this.process.kill('SIGKILL'));
  }

  /** Lines of standard output. */
  get lines(): readonly string[] {
    return this.output.split('\n').slice(0, -1);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    try {
      await waitFor(what, condition, PATIENCE_MS);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.output}${this.errors}`, { cause: error });
    }
  }
}

/** Runs `crier <args>` to its end. */
export async function crier(
  t: TestContext,
  args: readonly string[],
  { settings, input = '' }: { settings?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<{ code: number | NodeJS.Signals; output: string; errors: string }> {
  const running = new Crier(t, args, settings);
  running.process.stdin.on('error', () => undefined).end(input);
  const code = await running.ended;
  return { code, output: running.output, errors: running.errors };
}
