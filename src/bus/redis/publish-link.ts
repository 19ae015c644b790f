import { BusUnavailableError } from '../../base/errors.ts';
import type { RedisLink } from './redis-link.ts';

/** A link that commands are sent on, or one that is away. */
export type PublishLink = Pick<RedisLink, 'isUp' | 'label' | 'absence' | 'client' | 'failureOf'>;

/** Stands in for a link to a node that is not known. */
export const NO_LINK: PublishLink = {
  isUp: false,
  label: 'a node that is not known yet',
  absence: 'away',
  get client(): RedisLink['client'] {
    throw new BusUnavailableError('no node of the Redis Cluster is known that serves the slot', { reason: 'away' });
  },
  failureOf: () => 'away',
};
