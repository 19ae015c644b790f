import { BusUnavailableError } from '../../errors.ts';
import type { Message } from '../bus.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * Publishes all messages in order, in one pipeline. Settles at the latest when the link is dropped as silent.
 * @throws BusUnavailableError if the link is down or is lost before the last reply, or if Redis refuses a message.
 */
export async function publishTo(link: RedisLink, messages: readonly Message[]): Promise<void> {
  if (!link.isUp) throw new BusUnavailableError(`Redis at ${link.label} is unreachable`, { reason: 'away' });
  const pipeline = link.client.pipeline();
  for (const { channel, payload } of messages) pipeline.publish(channel, payload);
  const replies = (await pipeline.exec()) ?? [];
  for (const [error] of replies) {
    if (!error) continue;
    const message = `Redis at ${link.label} did not accept a message: ${describe(error)}`;
    throw new BusUnavailableError(message, { reason: link.failureOf(error) });
  }
}
