import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { auctionDocument } from '../fanout/auction.ts';
import type { FanoutClient } from '../fanout/client/client.ts';
import { sumOfCounter, textOf } from '../processes/metrics.ts';
import { pinned } from '../processes/pinning.ts';
import { startRemote, stopProcess } from '../processes/process-call.ts';
import { cpuMs } from '../processes/process-usage.ts';
import { startArguments } from '../processes/start-arguments.ts';
import { Scope } from '../runner/scope.ts';
import { sum } from '../runner/spread.ts';

const WARM_UP_SECONDS = 3;
/** Longest start in ms, on a busy machine. */
const START_TIMEOUT_MS = 60_000;

export interface CoreTrialOptions {
  readonly processes: number;
  readonly cores: string;
  readonly redisUrl: string;
  readonly sockets: number;
  readonly outstanding: readonly number[];
  readonly seconds: number;
}

export type CoreSample = Awaited<ReturnType<typeof coreTrial>>[number];

/** Starts a pod, connects sockets to one hot auction, and measures a window for each number of events in flight. */
export async function coreTrial(options: CoreTrialOptions, outer: Scope) {
  const { processes, redisUrl, sockets, outstanding, seconds } = options;
  const scope = new Scope();
  outer.after(() => scope.close());
  const channelPrefix = `cores-${processes}:`;
  const pod = await startPod(options, channelPrefix, scope);
  const client = startRemote<FanoutClient>('fanout/client/client.js', scope);
  const [mainMs] = pod.cpuMs() as [number];
  const where = { port: pod.port, sockets, redisUrl, channelPrefix };
  await client.connect({ ...where, hasCoordinates: true, query: auctionDocument(), isForAll: true });
  const connectUs = processes > 1 ? ((pod.cpuMs()[0]! - mainMs) * 1000) / sockets : undefined;
  const period = { serverPid: process.pid, stalled: 0 };
  await client.measure({ ...period, outstanding: Math.max(...outstanding), seconds: WARM_UP_SECONDS });
  const samples = [];
  for (const k of outstanding) {
    const [frames, before, machine] = [await pod.frames(), pod.cpuMs(), machineTicks()];
    const measured = await client.measure({ ...period, outstanding: k, seconds });
    const used = pod.cpuMs().map((ms, i) => ms - before[i]!);
    const [ticks, now] = [machineTicks(), await pod.frames()];
    const busyTicks = ticks.busy - machine.busy;
    samples.push({
      ...{ processes, outstanding: k, deliveries: measured.events * sockets, durationMs: measured.durationMs },
      /** CPU time of all processes of the pod, and of the one that used most. */
      ...{ cpuMs: sum(used), busiestMs: Math.max(...used), clientCpuMs: measured.clientCpuMs },
      /** CPU time of the process that accepts connections, for one of them; undefined: it serves them itself. */
      connectUs,
      /** Mean number of frames in a write to a socket. */
      framesPerWrite: (now.frames - frames.frames) / (now.writes - frames.writes),
      /** Share of the time in which the machine's cores were not idle. */
      machineBusy: busyTicks / (busyTicks + ticks.idle - machine.idle),
      /** Sockets that did not receive each event once, wrong messages, and closed sockets. */
      faults: measured.unequalSockets + measured.wrongSizes + measured.closed,
    });
  }
  await scope.close();
  return samples;
}

/** A pod with this number of gateway processes on these cores. Without a probe, which each of its processes would load. */
async function startPod({ processes, cores, redisUrl }: CoreTrialOptions, channelPrefix: string, scope: Scope) {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const main = resolve(import.meta.dirname, '..', '..', 'src', 'main.js');
  const [command, ...words] = pinned(cores, [process.execPath, ...startArguments(), main]);
  const child = spawn(command, words, {
    env: {
      ...process.env,
      ...{ ROLE: 'gateway', GRAPH: 'loadtest/graphs/fanout', PROCESSES: String(processes), HOST: '127.0.0.1' },
      ...{ PORT: String(port), ADMIN_PORT: String(adminPort), REDIS_URL: redisUrl, CHANNEL_PREFIX: channelPrefix },
      ...{ LOG_LEVEL: 'warn', DRAIN_DELAY_MS: '0', DRAIN_SPREAD_MS: '0' },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  scope.after(() => stopProcess(child));
  const admin = `http://127.0.0.1:${adminPort}`;
  const isReady = async () => (await fetch(`${admin}/readyz`).catch(() => undefined))?.status === 200;
  for (const deadline = performance.now() + START_TIMEOUT_MS; !(await isReady()); await delay(100)) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`PROCESSES=${processes}: no start`);
  }
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const pids = [child.pid!, ...(processes > 1 ? children.map(Number) : [])];
  const frames = async () => {
    const metrics = await textOf(`${admin}/metrics`);
    const [frames, writes] = ['crier_deliveries_total', 'crier_socket_writes_total'].map((name) =>
      sumOfCounter(metrics, name),
    );
    return { frames: frames!, writes: writes! };
  };
  /** The first value is of the process that starts the others. */
  return { port, cpuMs: () => pids.map(cpuMs), frames };
}

function machineTicks(): { readonly busy: number; readonly idle: number } {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/ +/).map(Number);
  const idle = ticks[3]! + ticks[4]!;
  return { busy: sum(ticks.slice(0, 8)) - idle, idle };
}
