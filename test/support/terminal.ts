import { spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { waitFor } from './wait-for.ts';

const PATIENCE_MS = 60_000;

/** A command on a terminal of its own, without colours: `script` of util-linux gives it one. Its process group is killed at the end of the test. */
export class Terminal {
  /** What the terminal shows: both streams. */
  shown = '';
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #pid: number;

  constructor(t: TestContext, command: string, settings: Readonly<Record<string, string>>, folder?: string) {
    const child = spawn('script', ['-qfec', `exec ${command}`, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'dumb', SHELL: '/bin/sh', ...settings },
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd: folder,
      detached: true,
    });
    this.#pid = child.pid!;
    child.stdout.on('data', (chunk: Buffer) => (this.shown += chunk.toString().replaceAll('\r\n', '\n')));
    this.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal!)));
    t.after(async () => {
      this.kill('SIGKILL');
      await this.ended;
    });
  }

  kill(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#pid, signal);
    } catch {
      // It has ended.
    }
  }

  async until(pattern: RegExp): Promise<void> {
    await waitFor(`${String(pattern)}\n${this.shown}`, () => pattern.test(this.shown), PATIENCE_MS).catch(() => {
      throw new Error(`${String(pattern)} is not on the terminal:\n${this.shown}`);
    });
  }
}
