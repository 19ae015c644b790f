import { setTimeout as delay } from 'node:timers/promises';
import { costOf } from '../processes/cpu-cost.ts';
import type { Cost } from '../processes/cpu-cost.ts';
import { PublishLoad } from './publish-load.ts';
import { startRedisServers } from './redis-servers.ts';
import type { Topology } from './redis-servers.ts';

/** Until every partition waits for Redis. */
const LEAD_MS = 1000;

export interface PublishSample {
  readonly topology: Topology;
  readonly records: number;
  readonly durationMs: number;
  /** CPU time of this process: it publishes and subscribes. */
  readonly ownCpuMs: number;
  /** CPU time of each Redis server. */
  readonly redisCpuMs: readonly number[];
  /** Difference between the messages that were published and those that arrived. */
  readonly lost: number;
}

export interface PublishTrial {
  /** Whether the quota is in force. */
  readonly isLimited: boolean;
  measure(seconds: number): Promise<PublishSample>;
  stop(): Promise<void>;
}

/** Starts the servers of a topology, fills the histories, and then limits each server to a share of a core. */
export async function openPublishTrial(topology: Topology, share: number): Promise<PublishTrial> {
  const servers = await startRedisServers(topology);
  const load = new PublishLoad(servers.url);
  const stop = async () => {
    await load.close();
    await servers.stop();
  };
  try {
    await load.open();
    const isLimited = servers.limit(share);
    return { isLimited, measure: (seconds) => measure(topology, load, servers.pids, seconds), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function measure(
  topology: Topology,
  load: PublishLoad,
  pids: readonly number[],
  seconds: number,
): Promise<PublishSample> {
  let records = 0;
  let cost: Cost | undefined;
  const lost = await load.runDuring(async () => {
    await delay(LEAD_MS);
    const before = load.accepted;
    cost = await costOf(pids, () => delay(seconds * 1000));
    records = load.accepted - before;
  });
  const { durationMs, ownMs: ownCpuMs, redisMs: redisCpuMs } = cost!;
  return { topology, records, durationMs, ownCpuMs, redisCpuMs, lost };
}
