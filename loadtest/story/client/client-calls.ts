import { spawn } from 'node:child_process';
import { CLIENT_CORE, pinned } from '../../processes/pinning.ts';
import { callProcess } from '../../processes/process-call.ts';
import { stopProcess } from '../../processes/server-process.ts';
import type { Imbalance } from './ledger.ts';

export interface StoryPlan {
  /** Of the gateways: the sockets take turns. */
  readonly ports: readonly number[];
  readonly sockets: number;
  readonly query: string;
  readonly auctionId: number;
  /** Writers of the flood (see `Lanes`). */
  readonly lanes: number;
  /** Of the topic. */
  readonly partitions: number;
}

export interface Progress {
  /** Copies that reached a socket. */
  readonly delivered: number;
  /** Copies that every open socket has; undefined where none is open. */
  readonly least: number | undefined;
  readonly cpuMs: number;
}

export interface Accounts extends Imbalance {
  /** Messages that are no result: of another length than the first. */
  readonly wrongSizes: number;
  /** Sockets that have ended, by close code. */
  readonly closed: Readonly<Record<string, number>>;
}

/** The sockets, in a process of their own. */
export interface StoryClient {
  /** Resolves when every socket has sent its subscription. */
  connect(plan: StoryPlan): Promise<void>;
  /** Resolves when every socket has got, and checked, a first message, and one of each partition has arrived. */
  whenLive(): Promise<{ messageBytes: number }>;
  progress(): Promise<Progress>;
  /** See `Arrivals`; on the monotonic clock. */
  arrivals(): Promise<number[]>;
  /** `lanes`: copies that were written, by lane. */
  accounts(lanes: readonly number[]): Promise<Accounts>;
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
    accounts: (lanes) => callProcess(child, 'accounts', lanes),
    stop: () => stopProcess(child),
  };
}
