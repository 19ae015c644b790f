import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVER_CORE, pinned } from './pinning.ts';
import { callProcess } from './process-call.ts';
import type { HeapReading } from '../servers/heap-gauge.ts';
import type { ProbeReport } from '../servers/probe.ts';
import type { Write } from '../servers/write-gauge.ts';

/** Long enough for a busy machine to compile. */
const START_TIMEOUT_MS = 60_000;

/** Settings of a server that neither limits handshakes nor waits when it is stopped. */
const NO_WAITS = { DRAIN_DELAY_MS: '0', DRAIN_SPREAD_MS: '0', MAX_HANDSHAKES_PER_SECOND: '0' };

export interface ServerProcess {
  readonly pid: number;
  /** Starts a new period of `report`. */
  reset(): Promise<void>;
  report(): Promise<ProbeReport>;
  /**
   * Collects garbage in it, lets it settle, and reads its resident memory, in bytes, without the young generation. That is empty then:
   * whether its pages (up to 48 MB) are still there says when V8 last felt like returning them, not what the server keeps.
   */
  keptBytes(): Promise<number>;
  /** Heap figures since the last call. The first call starts the recording. A busy event loop delays the answer. */
  readHeap(): Promise<HeapReading>;
  /** Writes of results that contain `marker` since the last call. The first call starts the recording. */
  readWrites(marker: string): Promise<Write[]>;
  startCpuProfile(): Promise<void>;
  /** Writes a .cpuprofile. */
  stopCpuProfile(path: string): Promise<void>;
  /** Writes the counts of executed blocks since the last call as JSON. The process must run with `--log-ic`. */
  writeExecutions(path: string): Promise<void>;
  /** Writes a heap snapshot, which stops the server for seconds. */
  writeHeapSnapshot(path: string): Promise<void>;
  /** Exit code or signal. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM, and SIGKILL after 5 s. */
  stop(): Promise<void>;
}

/**
 * Starts a server process, pinned to `core` if possible. Resolves when `port` accepts connections.
 * @param output file descriptor for standard output and standard error; default: standard error is this process's
 */
export async function startServerProcess(
  script: string,
  port: number,
  environment: Readonly<Record<string, string>> = {},
  nodeArguments: readonly string[] = [],
  core: number = SERVER_CORE,
  output?: number,
): Promise<ServerProcess> {
  const preload = new URL('../servers/probe.js', import.meta.url).pathname;
  const [command, ...words] = pinned(core, [
    process.execPath,
    '--expose-gc',
    ...nodeArguments,
    '--import',
    preload,
    script,
  ]);
  const child = spawn(command, words, {
    env: { ...process.env, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...NO_WAITS, ...environment },
    stdio: ['ignore', output ?? 'ignore', output ?? 'inherit', 'ipc'],
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal!)),
  );
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${script} did not start`);
    }
    await delay(50);
  }
  return {
    pid: child.pid!,
    reset: () => callProcess(child, 'reset'),
    report: () => callProcess(child, 'report'),
    keptBytes: async () => {
      await callProcess(child, 'collect');
      await delay(1000);
      const { residentBytes, youngBytes } = await callProcess<ProbeReport>(child, 'report');
      return residentBytes - youngBytes;
    },
    readHeap: () => callProcess(child, 'readHeap'),
    readWrites: (marker) => callProcess(child, 'readWrites', marker),
    startCpuProfile: () => callProcess(child, 'startCpuProfile'),
    stopCpuProfile: (path) => callProcess(child, 'stopCpuProfile', path),
    writeExecutions: (path) => callProcess(child, 'writeExecutions', path),
    writeHeapSnapshot: (path) => callProcess(child, 'writeHeapSnapshot', path),
    ended,
    stop: () => stopProcess(child),
  };
}

/** Sends SIGTERM, and SIGKILL after 5 s. Resolves when the process has exited. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
