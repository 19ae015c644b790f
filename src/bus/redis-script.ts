import { createHash } from 'node:crypto';
import { BusUnavailableError } from '../errors.ts';
import { describe, isReplyError } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

export interface Script {
  readonly text: string;
  /** By which Redis knows it, once it has run. */
  readonly sha: string;
}

export function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Runs a script in one round trip (two in a Redis that does not know it yet). Texts of its reply are Buffers.
 * @throws BusUnavailableError when the link is away or is lost before the reply, or Redis refused
 */
export async function runScript(
  { client, label, isUp }: RedisLink,
  { text, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  if (!isUp) throw new BusUnavailableError(`Redis at ${label} is away`);
  try {
    try {
      return await client.callBuffer('evalsha', [sha, keys.length, ...keys, ...args]);
    } catch (error) {
      if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await client.callBuffer('eval', [text, keys.length, ...keys, ...args]);
    }
  } catch (error) {
    throw new BusUnavailableError(`Redis at ${label} did not run a script: ${describe(error as Error)}`);
  }
}
