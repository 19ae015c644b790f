import { BusUnavailableError } from '../../errors.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * The value of a key: what the first to ask has proposed.
 * @throws BusUnavailableError
 */
export async function agreeOn({ client, isUp, label }: RedisLink, key: string, proposal: string): Promise<string> {
  if (!isUp) throw new BusUnavailableError(`Redis at ${label} is away`);
  try {
    await client.set(key, proposal, 'NX');
    return (await client.get(key)) ?? proposal;
  } catch (error) {
    throw new BusUnavailableError(`Redis at ${label} could not be asked: ${describe(error as Error)}`);
  }
}
