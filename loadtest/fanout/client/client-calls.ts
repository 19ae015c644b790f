import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';
import type { IdentityField } from '../auction.ts';
import type { Losses } from './outstanding.ts';

export interface FleetPlan {
  readonly port: number;
  readonly sockets: number;
  readonly redisUrl: string;
  /** Where events are records; undefined: they are published to Redis. */
  readonly kafkaBrokers: string | undefined;
  readonly channelPrefix: string;
  /** Whether what is published to Redis says where it comes from. */
  readonly hasCoordinates: boolean;
  /** undefined: the server knows no GraphQL. */
  readonly query: string | undefined;
  readonly identity: IdentityField | undefined;
  readonly tenants: number;
  /** All sockets on one auction; else each on its own. */
  readonly isForAll: boolean;
}

export interface Period {
  readonly outstanding: number;
  readonly seconds: number;
  readonly serverPid: number;
  /** The last so many sockets stop reading at the start of the period. */
  readonly stalled: number;
}

export interface Measurement extends Losses {
  readonly events: number;
  /** Messages of another length than the first: no results. */
  readonly wrongSizes: number;
  /** Reading sockets whose connection ended. */
  readonly closed: number;
  /** From the first publish to the last delivery. */
  readonly durationMs: number;
  readonly serverCpuMs: number;
  /** Of that, in the kernel. */
  readonly serverKernelMs: number;
  readonly clientCpuMs: number;
  /** Largest resident memory of the server in the window. */
  readonly peakResidentBytes: number;
  /** From publish to the last socket's delivery. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How the sockets that did not read fared, once they read again: how many by close code; 0 for still open. */
  readonly stalledByCloseCode: Readonly<Record<string, number>>;
}

export interface Client {
  /** Resolves when every subscription is live. */
  connect(plan: FleetPlan): Promise<{ messageBytes: number }>;
  measure(period: Period): Promise<Measurement>;
  /** Ends the period that is measured now: nothing more is published. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

/** The client in a process of its own, away from the server's core. */
export function startClient(): Client {
  const script = new URL('client.js', import.meta.url).pathname;
  const [command, ...words] = pinned(CLIENT_CORE, [process.execPath, script]);
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    connect: (plan) => callProcess(child, 'connect', plan),
    measure: (period) => callProcess(child, 'measure', period),
    finish: () => callProcess(child, 'finish'),
    stop: () => stopProcess(child),
  };
}
