import { Redis } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { RedisServer } from '../../stack/redis-server.ts';

/** Asks a server on a connection of its own, which ends also if the server refuses: an open one would keep the test's process alive. */
export async function withRedis<Result>(
  { url }: Pick<RedisServer, 'url'>,
  options: RedisOptions,
  ask: (client: Redis) => Promise<Result>,
): Promise<Result> {
  const client = new Redis(url, options);
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
