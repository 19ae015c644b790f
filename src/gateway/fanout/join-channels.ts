import type { EventFilter } from '../../graph/filter/event-filter.ts';
import type { Hub, Leave, Start } from './hub.ts';
import type { Subscription } from './subscription.ts';

/** Where a subscription gets its events from. */
export interface Channels {
  /** At least one. */
  readonly channels: readonly string[];
  /** See `Hub.join`. */
  readonly sharingKey: string | undefined;
  readonly filter?: EventFilter | undefined;
}

/**
 * Joins all channels of a subscription, or none. Its results are in the order of events within each channel. A client cannot resume over
 * several channels: its cursor is a position in one of them, so nothing proves that it misses no event of the others.
 *
 * @returns leaves all channels
 * @throws BusUnavailableError
 */
export async function joinChannels(
  hub: Pick<Hub, 'join' | 'notifyResume'>,
  { channels, sharingKey, filter }: Channels,
  subscription: Subscription,
  start?: Start,
): Promise<Leave> {
  if (channels.length === 1) return hub.join(channels[0]!, sharingKey, subscription, start, filter);
  if (start?.cursor !== undefined) hub.notifyResume(subscription, 'incomplete');
  const startOfEach = start && { ...start, cursor: undefined };
  const joins = await Promise.allSettled(
    channels.map((channel) => hub.join(channel, sharingKey, subscription, startOfEach, filter)),
  );
  const leave: Leave = (isAboutTo) => {
    for (const join of joins) if (join.status === 'fulfilled') join.value(isAboutTo);
  };
  const failure = joins.find((join) => join.status === 'rejected');
  if (!failure) return leave;
  leave();
  throw failure.reason;
}
