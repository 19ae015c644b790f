import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs } from '../processes/process-usage.ts';
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
  const read = () => ({
    at: performance.now(),
    records: load.accepted,
    redis: pids.map(cpuMs),
    own: process.cpuUsage(),
  });
  let before = read();
  let after = before;
  const lost = await load.runDuring(async () => {
    await delay(LEAD_MS);
    before = read();
    await delay(seconds * 1000);
    after = read();
  });
  return {
    topology,
    records: after.records - before.records,
    durationMs: after.at - before.at,
    ownCpuMs: (after.own.user + after.own.system - before.own.user - before.own.system) / 1000,
    redisCpuMs: after.redis.map((ms, i) => ms - before.redis[i]!),
    lost,
  };
}
