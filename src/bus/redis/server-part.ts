import type { Redis } from 'ioredis';

/** What a server is in its topology; a primary may be the only server. */
export type ServerPart = 'primary' | 'replica' | 'node';

/**
 * What the server says that it is: a node of a Redis Cluster, a replica or, also if it does not say, a primary. HELLO tells every user
 * (Redis 6.2 or later). Unlike INFO, ROLE and CLUSTER, it needs no permission.
 */
export async function readPart(client: Redis): Promise<ServerPart> {
  const properties = (await client.call('hello').catch(() => [])) as unknown[];
  const read = (name: string) => properties[properties.indexOf(name) + 1];
  if (read('mode') === 'cluster') return 'node';
  return read('role') === 'replica' ? 'replica' : 'primary';
}
