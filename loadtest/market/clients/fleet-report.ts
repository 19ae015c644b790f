import type { LatencySummary } from '../../runner/latency.ts';
import type { MarketOptions } from '../load/market.ts';
import type { Settlement } from './account.ts';

export interface FleetPlan extends MarketOptions {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  /** Number of stock graphql-ws clients. */
  readonly stock: number;
  /** Number of clients that are @crier/client, which resumes. */
  readonly resuming: number;
}

export interface Window {
  /** By lane: the last sequence before the window. */
  readonly from: readonly number[];
  /** Latency counts for records from this time on, in ms since 1970. */
  readonly startsAt: number;
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
  /** Time from the end of a connection until the next one has subscribed, with waits. */
  readonly reconnects: LatencySummary;
  /** Connections that ended before they had subscribed, by close code. */
  readonly failedAttempts: Readonly<Record<string, number>>;
  /** Clients connected at the end. */
  readonly ready: number;
}

/** What the stock clients received; `failures`: the first few unexpected messages of the server. */
export interface FleetReport extends ResumingReport, FleetUsage {
  readonly corrupt: number;
  readonly unrequested: number;
  /** Records that Redis never had. */
  readonly unpublished: number;
  readonly latency: LatencySummary;
  /** Connections ended by the server, by close code. */
  readonly closes: Readonly<Record<string, number>>;
  /** Time from opening a connection until it has subscribed, for connections that did so in the window. */
  readonly handshakes: LatencySummary;
  readonly failureCount: number;
  /** If there are clients that resume. The other figures are without them. */
  readonly resuming?: ResumingReport;
}
