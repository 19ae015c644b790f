import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';
import type { Settlement } from './account.ts';
import type { LatencySummary } from '../latency.ts';
import type { MarketOptions } from '../load/market.ts';
import type { Closing } from './fleet-state.ts';

export interface FleetPlan extends MarketOptions {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly clients: number;
  /** Number of clients that are the stock graphql-ws client. */
  readonly stock: number;
  /** Number of additional clients that subscribe to the whole house and read at most 4 KB a second. */
  readonly slow: number;
  /** Number of additional clients that are @crier/client, which resumes. Default: none. */
  readonly resuming?: number;
  readonly subscriptionsPerClient: number;
}

export interface Window {
  /** By lane: the last sequence before the window. */
  readonly from: readonly number[];
  /** Latency counts for records from this time on, in ms since 1970. */
  readonly startsAt: number;
}

/** Figures of a progress line. */
export interface FleetProgress {
  readonly ready: number;
  readonly live: number;
  readonly delivered: number;
  readonly closed: number;
}

/** Usage of the clients' process in the window. */
export interface FleetUsage {
  /** Share of one core. */
  readonly cpuPercent: number;
  /** Share of the time spent runnable without a core. */
  readonly waitPercent: number;
  readonly lagP99Ms: number;
  /** Longest delay of its event loop. */
  readonly lagMaxMs: number;
}

/** What the clients that resume received. */
export interface ResumingReport extends Settlement {
  readonly subscriptions: number;
  /** Subscriptions that received exactly the records written for them. */
  readonly complete: number;
  readonly duplicates: number;
  readonly reordered: number;
  /** Results that say that events may have been missed. */
  readonly gaps: number;
  readonly failures: readonly string[];
  readonly reconnects: LatencySummary;
  readonly failedAttempts: Readonly<Record<string, number>>;
  /** Clients connected at the end. */
  readonly ready: number;
}

export interface FleetReport extends Settlement, FleetUsage {
  readonly subscriptions: number;
  /** Subscriptions that received exactly the records written for them. */
  readonly complete: number;
  readonly duplicates: number;
  readonly reordered: number;
  readonly corrupt: number;
  readonly unrequested: number;
  /** Results that say that events may have been missed, as stock clients see them. */
  readonly gaps: number;
  /** Records that Redis never had. */
  readonly unpublished: number;
  readonly latency: LatencySummary;
  /** Connections ended by the server, by close code: of normal and of slow clients. */
  readonly closes: Readonly<Record<string, number>>;
  readonly slowCloses: Readonly<Record<string, number>>;
  /** Connections of normal clients that ended before they had subscribed, by close code. */
  readonly failedAttempts: Readonly<Record<string, number>>;
  /** Time from the end of a connection until the next one has subscribed, with waits. */
  readonly reconnects: LatencySummary;
  /** Time from opening a connection until it has subscribed, for connections that did so in the window. */
  readonly handshakes: LatencySummary;
  /** Unexpected messages of the server: the first few, and their number. */
  readonly failures: readonly string[];
  readonly failureCount: number;
  /** Clients connected at the end. */
  readonly ready: number;
  /** If the plan has clients that resume. The other figures are without them. */
  readonly resuming?: ResumingReport;
}

/** The ends of connections since the window began. */
export interface FleetClosings {
  readonly normal: readonly Closing[];
  readonly resuming: readonly Closing[];
}

/** All clients, in a separate process. */
export interface Fleet {
  /** Subscribes to Redis and creates the clients. */
  prepare(plan: FleetPlan): Promise<void>;
  /** Resolves when every client has subscribed. `atOnce`: all connect in one event-loop turn. */
  connect(how: { readonly atOnce: boolean }): Promise<void>;
  progress(): Promise<FleetProgress>;
  /** Starts the window. `isConfirmed`: every subscription has received an event. */
  begin(window: Window & { readonly isConfirmed: boolean }): Promise<void>;
  /** Makes every client reconnect at this interval in seconds, ± a fifth. */
  churn(options: { readonly seconds: number }): Promise<void>;
  closings(): Promise<FleetClosings>;
  /** Ends the churn. Waits until every client is connected and has its records, or until nothing arrives any more. */
  settle(options: { readonly to: readonly number[] }): Promise<FleetReport>;
  stop(): Promise<void>;
}

export function startFleet(): Fleet {
  const script = new URL('fleet-process.js', import.meta.url).pathname;
  const [command, ...words] = pinned(CLIENT_CORE, [process.execPath, script]);
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    prepare: (plan) => callProcess(child, 'prepare', plan),
    connect: (how) => callProcess(child, 'connect', how),
    progress: () => callProcess(child, 'progress'),
    begin: (window) => callProcess(child, 'begin', window),
    churn: (options) => callProcess(child, 'churn', options),
    closings: () => callProcess(child, 'closings'),
    settle: (options) => callProcess(child, 'settle', options),
    stop: () => stopProcess(child),
  };
}
