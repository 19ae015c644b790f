import { BusUnavailableError } from '../../errors.ts';
import type { Message } from '../bus.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * One pipeline for all messages, in order. Settles at the latest when the link is found silent.
 * @throws BusUnavailableError when the link is away or is lost before the last reply, or Redis refused a message.
 */
export async function publishTo(link: RedisLink, messages: readonly Message[]): Promise<void> {
  if (!link.isUp) throw new BusUnavailableError(`Redis at ${link.label} is away`, { reason: 'away' });
  const pipeline = link.client.pipeline();
  for (const { channel, payload } of messages) pipeline.publish(channel, payload);
  const replies = (await pipeline.exec()) ?? [];
  for (const [error] of replies) {
    if (!error) continue;
    const message = `Redis at ${link.label} did not accept a message: ${describe(error)}`;
    throw new BusUnavailableError(message, { reason: link.failureOf(error) });
  }
}
