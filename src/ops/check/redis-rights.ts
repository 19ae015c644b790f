import { randomUUID } from 'node:crypto';

/** A command that a user of crier needs, with arguments that change nothing. */
export interface RequiredCommand {
  readonly name: string;
  readonly arguments: readonly (string | number)[];
}

/** The SHA-1 of no script. */
const UNKNOWN_SCRIPT = '0'.repeat(40);

/** Every command of crier but those that subscribe and unsubscribe, on a key and a channel of a name that nothing else has. */
export function requiredCommands(prefix: string): readonly RequiredCommand[] {
  const key = `${prefix}check:${randomUUID()}`;
  const command = (name: string, ...rest: (string | number)[]): RequiredCommand => ({ name, arguments: rest });
  return [
    command('ping'),
    command('publish', key, ''),
    command('eval', 'return 1', 0),
    command('evalsha', UNKNOWN_SCRIPT, 0),
    command('time'),
    command('get', key),
    command('getrange', key, 0, 1),
    command('set', key, '', 'XX'),
    command('hget', key, 'field'),
    command('hmget', key, 'field'),
    command('xadd', key, 'NOMKSTREAM', '*', 'field', ''),
    command('xdel', key, '0-1'),
    command('xrange', key, '-', '+'),
    command('xrevrange', key, '+', '-'),
    command('xtrim', key, 'MAXLEN', 0),
    command('zadd', key, 'XX', 0, ''),
    command('zcard', key),
    command('zrange', key, 0, -1),
    command('zremrangebyscore', key, 1, 0),
    command('zscore', key, ''),
    command('pexpireat', key, 1),
    // There is no `hset` that changes nothing; the next command deletes the hash.
    command('hset', key, 'field', ''),
    command('pexpireat', key, 1),
  ];
}

/** The same on a node of a Redis Cluster; `prefix` begins with a hash tag of the node. */
export function requiredClusterCommands(prefix: string): readonly RequiredCommand[] {
  const key = `${prefix}check:${randomUUID()}`;
  return [
    ...requiredCommands(prefix),
    { name: 'spublish', arguments: [key, ''] },
    { name: 'cluster', arguments: ['SLOTS'] },
    { name: 'cluster', arguments: ['INFO'] },
  ];
}
