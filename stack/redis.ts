import type { ChildProcess } from 'node:child_process';
import { startRedisCluster } from './redis-cluster.ts';
import { startRedisSentinel } from './redis-sentinel.ts';
import { startRedisServer } from './redis-server.ts';

/** `one`: a server; `sentinel`: a primary, a replica and three Sentinels; `cluster`: three shards, each with a replica. */
export const REDIS_KINDS = ['one', 'sentinel', 'cluster'] as const;
export type RedisKind = (typeof REDIS_KINDS)[number];

/** Ports that each kind takes, from REDIS_PORT on. */
export const REDIS_PORTS: Readonly<Record<RedisKind, number>> = { one: 1, sentinel: 5, cluster: 6 };

export interface RunningRedis {
  /** For REDIS_URL. */
  readonly url: string;
  readonly processes: readonly ChildProcess[];
  readonly stop: () => Promise<void>;
}

/** @param port of the first server; the others follow. Default: free ports */
export async function startRedis(kind: RedisKind, port?: number): Promise<RunningRedis> {
  const at = port === undefined ? {} : { port };
  if (kind === 'cluster') {
    const { url, primaries, replicas, stop } = await startRedisCluster(at);
    return { url, processes: [...primaries, ...replicas].map((node) => node.process), stop };
  }
  if (kind === 'sentinel') {
    const { url, primary, replica, sentinels, stop } = await startRedisSentinel(at);
    return { url, processes: [primary, replica, ...sentinels].map((server) => server.process), stop };
  }
  const server = await startRedisServer(at);
  return { url: server.url, processes: [server.process], stop: () => server.stop() };
}
