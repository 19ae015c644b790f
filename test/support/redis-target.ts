import { parseRedisUrl } from '../../src/config/addresses/redis-address.ts';
import type { RedisTarget } from '../../src/config/addresses/redis-address.ts';

/** The one server, or the Sentinels, of a URL. */
export function targetOf(url: string): RedisTarget {
  const address = parseRedisUrl(url);
  if (address.kind === 'cluster') throw new Error('expected one server, got a cluster');
  return address.target;
}
