import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BusUnavailableError } from '../../base/errors.ts';
import { describe, isReplyError } from './reply-error.ts';
import type { PublishLink } from './publish-link.ts';

/** A Lua script that runs in Redis (6.2 or later): one round trip and one atomic step. `lua/` states its arguments and its reply. */
export interface Script {
  readonly text: string;
  /** By which Redis knows the script once it has run. */
  readonly sha: string;
}

/** All scripts of crier. */
export interface Scripts {
  readonly lease: Script;
  readonly publish: Script;
  readonly history: Script;
  readonly keep: Script;
  readonly lock: Script;
  readonly fills: Script;
  readonly filled: Script;
}

export const SERVER_SCRIPTS = scriptsWith('server');
export const CLUSTER_SCRIPTS = scriptsWith('cluster');

/** Sends a script by its SHA (`evalsha`), or its text (`eval`). */
type Send = (command: 'evalsha' | 'eval', script: string) => unknown;

/**
 * Runs a script in one round trip (two in a Redis that does not know it yet). Texts of its reply are Buffers.
 * @throws BusUnavailableError if the link is down or is lost before the reply, or Redis refuses
 */
export function runScript(
  link: PublishLink,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  return sendScript(link, script, (command, name) =>
    link.client.callBuffer(command, [name, keys.length, ...keys, ...args]),
  );
}

/**
 * The same for a caller that writes the command itself. ioredis's `defineCommand` cannot: it builds the command from arguments, which
 * the publish path must not (see `CommandWriter`), so all scripts share this fallback from `evalsha` to `eval`.
 */
export async function sendScript(link: PublishLink, { text, sha }: Script, send: Send): Promise<unknown> {
  const { label } = link;
  if (!link.isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`, { reason: link.absence });
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

/** @param mode the file that all scripts begin with */
function scriptsWith(mode: 'server' | 'cluster'): Scripts {
  return {
    lease: load(mode, 'partition', 'lease'),
    publish: load(mode, 'partition', 'entry', 'retain', 'state', 'publish'),
    history: load(mode, 'entry', 'history'),
    keep: load(mode, 'keep'),
    lock: load(mode, 'lock'),
    fills: load(mode, 'fills'),
    filled: load(mode, 'partition', 'filled'),
  };
}

/** Concatenates files of `lua/`: a file may use what the files before it define. */
function load(...names: readonly string[]): Script {
  const texts = names.map((name) => readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8'));
  const text = texts.join('');
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
