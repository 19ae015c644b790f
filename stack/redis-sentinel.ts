import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePorts } from './port.ts';
import { startRedisServer } from './redis-server.ts';
import type { RedisServer } from './redis-server.ts';
import { until } from './until.ts';

const NAME = 'crier';
/** In ms: a primary that is silent for longer counts as down. */
const DOWN_AFTER_MS = 2_000;

export interface RedisSentinel {
  /** `redis+sentinel://` with all Sentinels and the name of the primary. */
  readonly url: string;
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisServer[];
  readonly stop: () => Promise<void>;
}

/**
 * Starts a primary, a replica and three Sentinels on loopback, without persistence.
 * @param port of the primary; the replica and the Sentinels follow. Default: free ports
 */
export async function startRedisSentinel({ port }: { port?: number } = {}): Promise<RedisSentinel> {
  const ports = port === undefined ? await freePorts(5) : Array.from({ length: 5 }, (_, i) => port + i);
  const [primaryPort, replicaPort, ...sentinelPorts] = ports as [number, number, ...number[]];
  const folder = await mkdtemp(join(tmpdir(), 'crier-redis-sentinel-'));
  const servers: RedisServer[] = [];
  const start = async (at: number, flags: readonly string[]) => {
    const server = await startRedisServer({ port: at, flags });
    servers.push(server);
    return server;
  };
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const common = ['--dir', folder, '--repl-diskless-sync-delay', '0'];
    const primary = await start(primaryPort, common);
    const replica = await start(replicaPort, [...common, '--replicaof', '127.0.0.1', `${primaryPort}`]);
    const sentinels = await Promise.all(
      sentinelPorts.map(async (at) => {
        const file = join(folder, `sentinel-${at}.conf`);
        await writeFile(
          file,
          `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2\n` +
            `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}\n` +
            `sentinel failover-timeout ${NAME} 10000\n`,
        );
        const server = await startRedisServer({ port: at, configFile: file, flags: ['--sentinel', '--dir', folder] });
        servers.push(server);
        return server;
      }),
    );
    await knowEachOther(sentinels);
    const hosts = sentinelPorts.map((at) => `127.0.0.1:${at}`).join(',');
    return { url: `redis+sentinel://${hosts}/${NAME}`, primary, replica, sentinels, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function knowEachOther(sentinels: readonly RedisServer[]): Promise<void> {
  const clients = sentinels.map(({ url }) => new Redis(url, { enableReadyCheck: false }));
  try {
    await until('the Sentinels to know each other and the replica', async () => {
      const states = (await Promise.all(
        clients.map((client) => client.call('SENTINEL', 'MASTER', NAME)),
      )) as unknown as string[][];
      return states.every((state) => {
        const read = (name: string) => Number(state[state.indexOf(name) + 1]);
        return read('num-other-sentinels') === sentinels.length - 1 && read('num-slaves') === 1;
      });
    });
  } finally {
    for (const client of clients) client.disconnect();
  }
}
