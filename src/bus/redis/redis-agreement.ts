import { BusUnavailableError } from '../../errors.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * Returns the value of a key. The first proposal for the key becomes its value.
 * @throws BusUnavailableError
 */
export async function agreeOn({ client, isUp, label }: RedisLink, key: string, proposal: string): Promise<string> {
  if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`);
  try {
    await client.set(key, proposal, 'NX');
    return (await client.get(key)) ?? proposal;
  } catch (error) {
    throw new BusUnavailableError(`Redis at ${label} failed to read or set a value: ${describe(error as Error)}`);
  }
}
