import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface Service {
  readonly process: ChildProcess;
  /** SIGTERM, and SIGKILL after 10 s. Resolves when the process has ended. Idempotent. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Name of the service in messages. */
  name: string;
  command: string;
  arguments: readonly string[];
  /** How to install the command, for the error when it is missing. */
  fix: string;
  /** Called until it returns true: at first after 5 ms, then ever more seldom, down to every 50 ms. */
  isReady: () => Promise<boolean>;
  /** Longest wait for `isReady`, in ms. */
  timeoutMs: number;
}

/**
 * Starts a server as a child process and waits until it is ready. The server ends with this process at the latest.
 * @throws Error with the service's name and last output if the command is missing, ends early or does not become ready.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const child = spawn(options.command, options.arguments, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  let failure: Error | undefined;
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error: NodeJS.ErrnoException) => {
      failure =
        error.code === 'ENOENT'
          ? new Error(`${options.name}: ${options.command} was not found; ${options.fix}`)
          : error;
      resolve();
    });
  }).then(() => void process.removeListener('exit', killWithParent));
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(timer);
    })();
    return stopping;
  };

  const deadline = performance.now() + options.timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 50)) {
    if (failure) throw failure;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${options.name} ended while starting:\n${output}`);
    if (await options.isReady()) return { process: child, stop };
    if (performance.now() > deadline) {
      await stop();
      throw new Error(`${options.name} was not ready within ${options.timeoutMs} ms:\n${output}`);
    }
    await delay(pauseMs);
  }
}
