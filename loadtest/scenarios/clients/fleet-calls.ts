import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';
import type { Settlement } from './account.ts';
import type { LatencySummary } from '../latency.ts';
import type { MarketOptions } from '../load/market.ts';

export interface FleetPlan extends MarketOptions {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly clients: number;
  /** So many of the clients are the stock graphql-ws client. */
  readonly stock: number;
  /** So many more follow the whole house and read no more than 4 KB a second. */
  readonly slow: number;
  readonly subscriptionsPerClient: number;
}

export interface Window {
  /** By lane: the last sequence before the window. */
  readonly from: readonly number[];
  /** Latency counts from records of this time on, in ms since 1970. */
  readonly startsAt: number;
}

/** What a line of progress shows. */
export interface FleetProgress {
  readonly ready: number;
  readonly live: number;
  readonly delivered: number;
  readonly closed: number;
}

/** Of the clients' process, in the window. */
export interface FleetUsage {
  /** Share of one core. */
  readonly cpuPercent: number;
  /** Share of the time in which it was ready to run and had no core. */
  readonly waitPercent: number;
  readonly lagP99Ms: number;
}

export interface FleetReport extends Settlement, FleetUsage {
  readonly subscriptions: number;
  /** Subscriptions that got what was written for them, no more and no less. */
  readonly complete: number;
  readonly duplicates: number;
  readonly reordered: number;
  readonly corrupt: number;
  readonly foreign: number;
  /** Records that Redis never had. */
  readonly unpublished: number;
  readonly latency: LatencySummary;
  /** Connections that the server ended, by close code: of clients that read, and of slow ones. */
  readonly closes: Readonly<Record<string, number>>;
  readonly slowCloses: Readonly<Record<string, number>>;
  /** Connections that ended before they were subscribed, by close code; of clients that read. */
  readonly failedAttempts: Readonly<Record<string, number>>;
  /** From the end of a connection to the next one that is subscribed, waits included. */
  readonly reconnects: LatencySummary;
  /** From opening a connection to its being subscribed; of those that were so after the window began. */
  readonly handshakes: LatencySummary;
  /** What the server said that no client should hear; the first few, and how many. */
  readonly failures: readonly string[];
  readonly failureCount: number;
  /** Clients that were connected at the end. */
  readonly ready: number;
}

/** All clients, in a process of their own. */
export interface Fleet {
  /** Follows Redis, and makes the clients. */
  prepare(plan: FleetPlan): Promise<void>;
  /** Resolves when every client is subscribed. `atOnce`: all connect in one turn of the event loop. */
  connect(how: { readonly atOnce: boolean }): Promise<void>;
  progress(): Promise<FleetProgress>;
  /** Starts the window. `isConfirmed`: every subscription has shown that it is live. */
  begin(window: Window & { readonly isConfirmed: boolean }): Promise<void>;
  /** From now on every client reconnects every so many seconds, give or take a fifth. */
  churn(options: { readonly seconds: number }): Promise<void>;
  /** Ends the churn, waits until every client is back and has what was written for it, or nothing comes any more. */
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
    settle: (options) => callProcess(child, 'settle', options),
    stop: () => stopProcess(child),
  };
}
