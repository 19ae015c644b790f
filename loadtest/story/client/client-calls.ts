import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';
import type { Reconciliation } from './ledger.ts';

export interface StoryPlan {
  /** Ports of the gateways; sockets are distributed round-robin. */
  readonly ports: readonly number[];
  readonly sockets: number;
  readonly query: string;
  readonly auctionId: number;
  /** Whether each socket names a user of its own. */
  readonly isPerUser: boolean;
  /** Number of writers of the flood (see `Lanes`). */
  readonly lanes: number;
  /** Partitions of the topic. */
  readonly partitions: number;
}

export interface Progress {
  /** Copies that reached a socket. */
  readonly delivered: number;
  /** Copies that every open socket has received; undefined when none is open. */
  readonly least: number | undefined;
  readonly cpuMs: number;
}

export interface ClientReconciliation extends Reconciliation {
  /** Messages whose length differs from the first message's. */
  readonly wrongSizes: number;
  /** Number of closed sockets, by close code. */
  readonly closed: Readonly<Record<string, number>>;
}

/** The sockets, in a separate process. */
export interface StoryClient {
  /** Resolves when every socket has sent its subscription. */
  connect(plan: StoryPlan): Promise<void>;
  /** Resolves when every socket has received and checked a first message, and one message of each partition has arrived. */
  whenLive(): Promise<{ messageBytes: number }>;
  progress(): Promise<Progress>;
  /** See `Arrivals`; on the monotonic clock. */
  arrivals(): Promise<number[]>;
  /** `lanes`: number of written copies, by lane. */
  reconcile(lanes: readonly number[]): Promise<ClientReconciliation>;
  stop(): Promise<void>;
}

export function startStoryClient(): StoryClient {
  const script = new URL('client.js', import.meta.url).pathname;
  const [command, ...words] = pinned(CLIENT_CORE, [process.execPath, script]);
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    connect: (plan) => callProcess(child, 'connect', plan),
    whenLive: () => callProcess(child, 'whenLive'),
    progress: () => callProcess(child, 'progress'),
    arrivals: () => callProcess(child, 'arrivals'),
    reconcile: (lanes) => callProcess(child, 'reconcile', lanes),
    stop: () => stopProcess(child),
  };
}
