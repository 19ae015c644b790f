import { createHash } from 'node:crypto';
import { BusUnavailableError } from '../../errors.ts';
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

/** Sends a script by its name for Redis (`evalsha`), or its text (`eval`). */
type Send = (command: 'evalsha' | 'eval', script: string) => unknown;

/**
 * Runs a script in one round trip (two in a Redis that does not know it yet). Texts of its reply are Buffers.
 * @throws BusUnavailableError when the link is away or is lost before the reply, or Redis refused
 */
export function runScript(
  link: RedisLink,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return sendScript(link, script, (command, name) =>
    link.client.callBuffer(command, [name, keys.length, ...keys, ...args]),
  );
}

/** The same where the caller sends it himself. */
export async function sendScript(link: RedisLink, { text, sha }: Script, send: Send): Promise<unknown> {
  const { label } = link;
  if (!link.isUp) throw new BusUnavailableError(`Redis at ${label} is away`, { reason: 'away' });
  try {
    try {
      return await send('evalsha', sha);
    } catch (error) {
      if (!isReplyError(error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await send('eval', text);
    }
  } catch (error) {
    const message = `Redis at ${label} did not run a script: ${describe(error as Error)}`;
    throw new BusUnavailableError(message, { reason: link.failureOf(error as Error) });
  }
}
