import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePorts } from './port.ts';
import { startRedisServer } from './redis-server.ts';
import type { RedisServer, RedisTlsOptions } from './redis-server.ts';
import { until } from './until.ts';

const SLOTS = 16_384;

export interface RedisClusterOptions {
  /** Default 3. */
  readonly shards?: number;
  /** Of each shard. Default 1. */
  readonly replicas?: number;
  /** In ms: a node that is silent for longer counts as failed. Default 2,000. */
  readonly nodeTimeoutMs?: number;
  /** Of the default user. */
  readonly password?: string;
  /** Of the first node; the others follow. Default: free ports. */
  readonly port?: number;
  /** Serves TLS on second ports, which the nodes use among themselves, too. */
  readonly tls?: RedisTlsOptions;
}

export interface RedisCluster {
  /** `redis+cluster://` with all nodes. */
  readonly url: string;
  /** `rediss+cluster://`; names no node without `tls`. */
  readonly tlsUrl: string;
  /** By shard. */
  readonly primaries: readonly RedisServer[];
  /** By shard; of the shards one after the other. */
  readonly replicas: readonly RedisServer[];
  readonly stop: () => Promise<void>;
}

/** Starts a Redis Cluster without persistence on loopback. A shard that is away stops its own slots only. */
export async function startRedisCluster({
  shards = 3,
  replicas = 1,
  nodeTimeoutMs = 2_000,
  password,
  port,
  tls,
}: RedisClusterOptions = {}): Promise<RedisCluster> {
  const count = shards * (1 + replicas);
  const free = await freePorts(port === undefined ? 2 * count : count);
  const folder = await mkdtemp(join(tmpdir(), 'crier-redis-cluster-'));
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      startRedisServer({
        port: port === undefined ? free[count + i]! : port + i,
        ...(tls && { tls }),
        flags: [
          ...['--cluster-enabled', 'yes', '--cluster-port', `${free[i]!}`, '--cluster-require-full-coverage', 'no'],
          ...[
            '--cluster-node-timeout',
            `${nodeTimeoutMs}`,
            '--dir',
            folder,
            '--cluster-config-file',
            `nodes-${i}.conf`,
          ],
          // A node lists a replica once the replica has received something, be it this ping (default: every 10 s).
          ...['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1'],
          ...(tls ? ['--tls-cluster', 'yes', '--tls-replication', 'yes'] : []),
          ...(password === undefined ? [] : ['--requirepass', password, '--masterauth', password]),
        ],
      }),
    ),
  );
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await joinNodes(nodes, free, shards, password);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    tlsUrl: `rediss+cluster://${nodes.map(({ tlsUrl }) => tlsUrl.replace('rediss://', '')).join(',')}`,
    primaries: nodes.slice(0, shards),
    replicas: nodes.slice(shards),
    stop,
  };
}

/** @param busPorts of the nodes */
async function joinNodes(
  nodes: readonly RedisServer[],
  busPorts: readonly number[],
  shards: number,
  password?: string,
): Promise<void> {
  const clients = nodes.map(({ url }) => new Redis(url, password === undefined ? {} : { password }));
  try {
    const [first] = nodes as [RedisServer];
    const ids = await Promise.all(clients.map((client) => client.cluster('MYID')));
    for (const [i, client] of clients.entries()) {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', i + 1);
      if (i < shards) {
        const range = [Math.floor((i * SLOTS) / shards), Math.floor(((i + 1) * SLOTS) / shards) - 1];
        await client.call('CLUSTER', 'ADDSLOTSRANGE', ...range);
      }
      if (i > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, busPorts[0]!);
    }
    await until('the nodes of the Redis Cluster to know each other', () =>
      everyNode(clients, /cluster_known_nodes:(\d+)/, nodes.length),
    );
    for (const [i, client] of clients.entries()) {
      if (i < shards) continue;
      await until('a replica to know its primary', () =>
        client.call('CLUSTER', 'REPLICATE', ids[i % shards]!).then(
          () => true,
          () => false,
        ),
      );
    }
    await until('the Redis Cluster to serve every slot', async () => {
      const states = await Promise.all(clients.map((client) => client.cluster('INFO')));
      return states.every((state) => /cluster_state:ok/.test(state) && /cluster_slots_ok:16384/.test(state));
    });
    await until('the replicas to follow their primaries', async () => {
      const links = await Promise.all(clients.slice(shards).map((client) => client.info('replication')));
      return links.every((link) => link.includes('master_link_status:up'));
    });
    // A replica that a primary does not know would not be in its map of slots.
    await until('every node to know the replicas', async () => {
      const maps = (await Promise.all(clients.map((client) => client.cluster('SLOTS')))) as unknown[][][];
      return maps.every(
        (slots) => slots.length === shards && slots.every((slot) => slot.length === 2 + nodes.length / shards),
      );
    });
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function everyNode(clients: readonly Redis[], form: RegExp, count: number): Promise<boolean> {
  const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
  return infos.every((info) => Number(form.exec(info)?.[1]) === count);
}
