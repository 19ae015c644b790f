import { BusUnavailableError } from '../../errors.ts';
import { describe } from './redis-link.ts';
import type { PublishLink } from './publish-link.ts';

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
