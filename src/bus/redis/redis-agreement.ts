import { BusUnavailableError } from '../../base/errors.ts';
import type { Lock, LockRequest } from '../lock.ts';
import { describe } from './reply-error.ts';
import type { PublishLink } from './publish-link.ts';
import { runScript } from './redis-scripts.ts';
import type { RedisTag } from './redis-tag.ts';

/**
 * Returns the value of a key. The first proposal for the key becomes its value.
 * @throws BusUnavailableError
 */
export async function agreeOn(link: PublishLink, key: string, proposal: string): Promise<string> {
  const { client, isUp, label } = link;
  if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`);
  try {
    await client.set(key, proposal, 'NX');
    return (await client.get(key)) ?? proposal;
  } catch (error) {
    const message = `Redis at ${label} failed to read or set a value: ${describe(error as Error)}`;
    throw new BusUnavailableError(message, { reason: link.failureOf(error as Error) });
  }
}

/** Takes a lock, or with `ttlMs` 0 gives it up. Returns the lock that is valid now, or was until then. @throws BusUnavailableError */
export async function lockFor(tag: RedisTag, name: string, request: LockRequest): Promise<Lock> {
  const { publisher, prefix, scripts } = tag;
  const { holder, since, ttlMs, process } = request;
  const key = `${prefix}${name}`;
  const args = [holder, since ?? '', ttlMs, process];
  return lockIn(String(await runScript(publisher, scripts.lock, [key, `${key}:processes`], args)));
}

/** @throws BusUnavailableError */
export async function lockOf({ publisher, prefix }: RedisTag, name: string): Promise<Lock | undefined> {
  const { label, isUp } = publisher;
  if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`);
  try {
    const text = await publisher.client.get(`${prefix}${name}`);
    return text === null ? undefined : lockIn(text);
  } catch (error) {
    const message = `Redis at ${label} failed to read a value: ${describe(error as Error)}`;
    throw new BusUnavailableError(message, { reason: publisher.failureOf(error as Error) });
  }
}

function lockIn(text: string): Lock {
  const space = text.indexOf(' ');
  return { holder: text.slice(space + 1), since: Number(text.slice(0, space)) };
}
