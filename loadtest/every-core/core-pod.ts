import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { metricOf } from '../../test/support/metric.ts';
import { cpuMs } from '../processes/process-usage.ts';
import { stopProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';

/** Longest start in ms, on a busy machine. */
const START_TIMEOUT_MS = 60_000;

export interface CorePod {
  readonly port: number;
  /** CPU time in ms of each process of the pod. The first value is of the process that starts the others. */
  cpuMs(): number[];
  /** A counter of `/metrics`. */
  metric(name: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a pod with this number of gateway processes on these cores (`taskset -c`). */
export async function startCorePod(
  processes: number,
  cores: string,
  environment: Readonly<Record<string, string>>,
): Promise<CorePod> {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const main = resolve(import.meta.dirname, '..', '..', 'src', 'main.js');
  const child = spawn('taskset', ['-c', cores, process.execPath, ...startArguments(), main], {
    env: {
      ...process.env,
      ...{ ROLE: 'gateway', GRAPH: 'loadtest/graphs/fanout', PROCESSES: String(processes), HOST: '127.0.0.1' },
      ...{
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        LOG_LEVEL: 'warn',
        DRAIN_DELAY_MS: '0',
        DRAIN_SPREAD_MS: '0',
      },
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isReady(adminPort))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`PROCESSES=${processes}: no start`);
    }
    await delay(100);
  }
  const pids = [child.pid!, ...(processes > 1 ? childrenOf(child.pid!) : [])];
  return {
    port,
    cpuMs: () => pids.map(cpuMs),
    metric: (name) => metricOf(`http://127.0.0.1:${adminPort}`, name),
    stop: () => stopProcess(child),
  };
}

async function isReady(adminPort: number): Promise<boolean> {
  const reply = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
  return reply?.status === 200;
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
