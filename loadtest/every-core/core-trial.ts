import { readFileSync } from 'node:fs';
import { auctionDocument } from '../fanout/auction.ts';
import { startClient } from '../fanout/client/client-calls.ts';
import { startCorePod } from './core-pod.ts';
import type { CorePod } from './core-pod.ts';

const WARM_UP_SECONDS = 3;

export interface CoreTrialOptions {
  readonly processes: number;
  readonly cores: string;
  readonly redisUrl: string;
  readonly sockets: number;
  readonly outstanding: readonly number[];
  readonly seconds: number;
}

export interface CoreSample {
  readonly processes: number;
  /** Events in flight. */
  readonly outstanding: number;
  readonly deliveries: number;
  readonly durationMs: number;
  /** CPU time of all processes of the pod. */
  readonly cpuMs: number;
  /** CPU time of the process that used most. */
  readonly busiestMs: number;
  /** Mean number of frames in a write to a socket. */
  readonly framesPerWrite: number;
  readonly clientCpuMs: number;
  /** Share of the time in which the machine's cores were not idle. */
  readonly machineBusy: number;
  /** Sockets that did not receive each event once, wrong messages, and closed sockets. */
  readonly faults: number;
  /** CPU time in µs of the process that accepts connections, for one of them; undefined: it serves them itself. */
  readonly connectUs: number | undefined;
}

/** Starts a pod, connects sockets to one hot auction, and measures a window for each number of events in flight. */
export async function coreTrial(options: CoreTrialOptions): Promise<CoreSample[]> {
  const { processes, cores, redisUrl, sockets, outstanding, seconds } = options;
  const channelPrefix = `cores-${processes}:`;
  const pod = await startCorePod(processes, cores, { REDIS_URL: redisUrl, CHANNEL_PREFIX: channelPrefix });
  const client = startClient();
  try {
    const [mainMs] = pod.cpuMs() as [number];
    await client.connect({
      ...{ port: pod.port, sockets, redisUrl, kafkaBrokers: undefined, channelPrefix, hasCoordinates: true },
      ...{
        isStream: false,
        isCompressed: false,
        query: auctionDocument(),
        identity: undefined,
        tenants: 1,
        tokenSecret: undefined,
        isForAll: true,
      },
    });
    const connectUs = processes > 1 ? ((pod.cpuMs()[0]! - mainMs) * 1000) / sockets : undefined;
    const period = { serverPid: process.pid, stalled: 0 };
    await client.measure({ ...period, outstanding: Math.max(...outstanding), seconds: WARM_UP_SECONDS });
    const samples: CoreSample[] = [];
    for (const k of outstanding) {
      const frames = await framesOf(pod);
      const [before, machine] = [pod.cpuMs(), machineTicks()];
      const measured = await client.measure({ ...period, outstanding: k, seconds });
      const used = pod.cpuMs().map((ms, i) => ms - before[i]!);
      const { busy, idle } = machineTicks();
      const busyTicks = busy - machine.busy;
      const now = await framesOf(pod);
      samples.push({
        processes,
        outstanding: k,
        deliveries: measured.events * sockets,
        durationMs: measured.durationMs,
        cpuMs: used.reduce((sum, ms) => sum + ms, 0),
        busiestMs: Math.max(...used),
        framesPerWrite: (now.frames - frames.frames) / (now.writes - frames.writes),
        clientCpuMs: measured.clientCpuMs,
        machineBusy: busyTicks / (busyTicks + idle - machine.idle),
        connectUs,
        faults: measured.unequalSockets + measured.wrongSizes + measured.closed,
      });
    }
    return samples;
  } finally {
    await client.stop();
    await pod.stop();
  }
}

async function framesOf(pod: CorePod): Promise<{ readonly frames: number; readonly writes: number }> {
  return {
    frames: await pod.metric('crier_deliveries_total'),
    writes: await pod.metric('crier_socket_writes_total'),
  };
}

function machineTicks(): { readonly busy: number; readonly idle: number } {
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/ +/).map(Number);
  const idle = ticks[3]! + ticks[4]!;
  return { busy: ticks.slice(0, 8).reduce((sum, tick) => sum + tick, 0) - idle, idle };
}
