import { Redis } from 'ioredis';
import { freePorts } from './port.ts';
import { installHint } from './programs.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';

export interface RedisServer extends Service {
  readonly port: number;
  readonly url: string;
}

/** Starts a Redis without persistence on loopback. `port`: default a free port. A server restarted on the same port is empty. */
export async function startRedisServer({
  port,
  flags = [],
}: { port?: number; flags?: readonly string[] } = {}): Promise<RedisServer> {
  port ??= (await freePorts(1))[0]!;
  const service = await startService({
    name: `Redis on port ${port}`,
    command: 'redis-server',
    arguments: ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...flags],
    mend: installHint(['redis-server']),
    isReady: () => answersPing(port),
    timeoutMs: 10_000,
  });
  return { ...service, port, url: `redis://127.0.0.1:${port}` };
}

async function answersPing(port: number): Promise<boolean> {
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: 1000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
