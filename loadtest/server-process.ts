import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface ServerProcess {
  readonly pid: number;
  /** Collects garbage in it, lets it settle, and reads its resident memory, in bytes. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** A server in a process of its own, on one core where taskset exists; resolves when `port` accepts connections. */
export async function startServerProcess(
  script: string,
  port: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const preload = new URL('servers/collect-on-signal.js', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--expose-gc', '--import', preload, script], {
    env: { ...process.env, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  const deadline = performance.now() + 20_000;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${script} did not start`);
    await delay(50);
  }
  return {
    pid: child.pid!,
    residentBytes: async () => {
      child.kill('SIGUSR2');
      await delay(1000);
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      process.removeListener('exit', killWithParent);
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
