import { parseParts } from '../../../bus/carried-parts.ts';
import type { Coordinates } from '../../../bus/coordinates.ts';
import type { Pace } from '../../../graph/pace.ts';

/**
 * What tells the events of one key from others of their channel. Records without a key have one key. undefined: the message does not say, because
 * it was published before the graph had a pace, or by another program.
 */
export function eventKey(coordinates: Coordinates | undefined, { isOfChannel }: Pace): string | undefined {
  if (isOfChannel) return '';
  const id = coordinates?.record === undefined ? undefined : parseParts(coordinates.record)?.id;
  return id === null ? '' : id;
}
