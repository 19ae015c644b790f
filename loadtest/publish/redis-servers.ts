import { startRedisCluster } from '../../stack/redis-cluster.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import { limitCpu } from '../processes/cpu-quota.ts';

/** What crier publishes on, in the order of the table. */
export const TOPOLOGIES = ['one server', 'a cluster of 1 shard', 'a cluster of 3 shards'] as const;
export type Topology = (typeof TOPOLOGIES)[number];

export interface RedisServers {
  /** For REDIS_URL. */
  readonly url: string;
  /** Of each server. */
  readonly pids: readonly number[];
  /** Limits each server to a share of one core. Returns false where that is impossible. */
  limit(share: number): boolean;
  stop(): Promise<void>;
}

/** Starts the servers of a topology, without replicas. */
export async function startRedisServers(topology: Topology): Promise<RedisServers> {
  const { url, pids, stop } = await start(topology);
  const quotas: { remove(): void }[] = [];
  return {
    url,
    pids,
    limit: (share) => {
      quotas.push(...pids.flatMap((pid) => limitCpu(pid, share) ?? []));
      return quotas.length === pids.length;
    },
    stop: async () => {
      await stop();
      for (const quota of quotas) quota.remove();
    },
  };
}

async function start(topology: Topology): Promise<Pick<RedisServers, 'url' | 'pids' | 'stop'>> {
  if (topology === 'one server') {
    const server = await startRedisServer();
    return { url: server.url, pids: [server.process.pid!], stop: () => server.stop() };
  }
  const shards = topology === 'a cluster of 1 shard' ? 1 : 3;
  const { url, primaries, stop } = await startRedisCluster({ shards, replicas: 0 });
  return { url, pids: primaries.map((primary) => primary.process.pid!), stop };
}
