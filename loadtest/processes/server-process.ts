import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import type { Scope } from '../runner/scope.ts';
import type { Probe, ProbeReport } from '../servers/probe.ts';
import { sumOfCounter, textOf } from './metrics.ts';
import { SERVER_CORE, pinned } from './pinning.ts';
import { remoteOf, stopProcess } from './process-call.ts';
import type { Remote, RemoteProcess } from './process-call.ts';

/** Long enough for a busy machine to compile. */
const START_TIMEOUT_MS = 60_000;

/** Settings of a server that neither limits handshakes nor waits when it is stopped. */
const NO_WAITS = { DRAIN_DELAY_MS: '0', DRAIN_SPREAD_MS: '0', MAX_HANDSHAKES_PER_SECOND: '0' };

export const CRIER = '../src/main.js';

export interface ServerOptions {
  /** Absolute, or relative to dist/loadtest. Default: crier of this build. */
  readonly script?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Node's own flags, such as `startArguments()`. */
  readonly nodeArguments?: readonly string[] | undefined;
  /** Default: the server's core. */
  readonly core?: number | undefined;
  /** File descriptor for standard output and standard error. Default: standard error is this process's. */
  readonly output?: number | undefined;
  /** True: it serves no sockets, so it has started when its admin port accepts connections. */
  readonly isWorkerOnly?: boolean | undefined;
}

/** A server under measurement, with the methods of its probe. */
export interface ServerProcess extends Remote<Probe>, RemoteProcess {
  readonly port: number;
  readonly adminPort: number;
  /**
   * Collects garbage in it, lets it settle, and reads its resident memory, in bytes, without the young generation. That is empty then:
   * whether its pages (up to 48 MB) are still there says when V8 last felt like returning them, not what the server keeps.
   */
  keptBytes(): Promise<number>;
  /** `/metrics` in Prometheus' text format. A busy event loop delays the answer. */
  metrics(): Promise<string>;
  /** A value of it; without labels the sum of all series; 0 if the metric is missing. */
  metric(name: string): Promise<number>;
  /** Whether /readyz reports ready. */
  isReady(): Promise<boolean>;
}

/** Starts a server on free ports, pinned to a core if possible. It ends with the scope. Resolves when it accepts connections. */
export async function startServer(options: ServerOptions, scope: Pick<Scope, 'after'>): Promise<ServerProcess> {
  const { script = CRIER, environment, nodeArguments = [], core = SERVER_CORE, output } = options;
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const path = resolve(import.meta.dirname, '..', script);
  const preload = new URL('../servers/probe.js', import.meta.url).pathname;
  const line = [process.execPath, '--expose-gc', ...nodeArguments, '--import', preload, path];
  const [command, ...words] = pinned(core, line);
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), HOST: '127.0.0.1' };
  const child = spawn(command, words, {
    env: { ...process.env, ...ports, LOG_LEVEL: 'warn', ...NO_WAITS, ...environment },
    stdio: ['ignore', output ?? 'ignore', output ?? 'inherit', 'ipc'],
  });
  scope.after(() => stopProcess(child));
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await accepts(options.isWorkerOnly ? adminPort : port))) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`${path} did not start`);
    }
    await delay(50);
  }
  const admin = `http://127.0.0.1:${adminPort}`;
  const server: ServerProcess = remoteOf<Probe, Omit<ServerProcess, keyof Probe | keyof RemoteProcess>>(child, {
    port,
    adminPort,
    keptBytes: async () => {
      await server.collect();
      await delay(1000);
      const { residentBytes, youngBytes }: ProbeReport = await server.report();
      return residentBytes - youngBytes;
    },
    metrics: () => textOf(`${admin}/metrics`),
    metric: async (name) => sumOfCounter(await textOf(`${admin}/metrics`), name),
    isReady: () =>
      fetch(`${admin}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  return server;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
