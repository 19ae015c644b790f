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
  /** Kafka brokers for events that are records; undefined: events are published to Redis. */
  readonly kafkaBrokers: string | undefined;
  readonly channelPrefix: string;
  /** Whether published messages start with Kafka coordinates. */
  readonly hasCoordinates: boolean;
  readonly isStream: boolean;
  readonly isCompressed: boolean;
  readonly hasWindow?: boolean | undefined;
  /** undefined: the server has no GraphQL. */
  readonly query: string | undefined;
  readonly identity: IdentityField | undefined;
  readonly tenants: number;
  /** Signs a token for each socket; undefined: the sockets have none. */
  readonly tokenSecret: string | undefined;
  /** Whether all sockets watch one auction; otherwise each watches its own. */
  readonly isForAll: boolean;
}

export interface Period {
  /** Events in flight, of a closed loop. */
  readonly outstanding: number;
  /** Events a second, of an open loop instead: each for one socket, in turn. */
  readonly rate?: number | undefined;
  readonly seconds: number;
  readonly serverPid: number;
  /** Number of sockets, the last ones, that stop reading at the start of the period. */
  readonly stalled: number;
}

export interface Measurement extends Losses {
  readonly events: number;
  /** Mean length of the messages of the window. */
  readonly messageBytes: number;
  /** Messages whose length differs from the first message's; with a window of compression: that are longer. */
  readonly wrongSizes: number;
  /** Reading sockets whose connection ended. */
  readonly closed: number;
  /** From the first publish to the last delivery. */
  readonly durationMs: number;
  readonly serverCpuMs: number;
  /** The kernel's part of it. */
  readonly serverKernelMs: number;
  readonly clientCpuMs: number;
  /** Largest resident memory of the server in the window. */
  readonly peakResidentBytes: number;
  /** From publish to the last socket's delivery. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Number of stalled sockets by close code, after they read again; 0: still open. */
  readonly stalledByCloseCode: Readonly<Record<string, number>>;
}

export interface Client {
  /** Resolves when every subscription is live. */
  connect(plan: FleetPlan): Promise<void>;
  measure(period: Period): Promise<Measurement>;
  /** Ends the current period: nothing more is published. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

/** The client, in a separate process on another core than the server. */
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
