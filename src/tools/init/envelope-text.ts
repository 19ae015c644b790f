import { LIKENESSES } from '../../kafka/decoding/envelopes/recognised.ts';
import type { SeenTopic } from './seen-topic.ts';

/** Says which envelope the records have, or that they do not agree. undefined: they have none. */
export function envelopeText({ envelope, mixed }: Pick<SeenTopic, 'envelope' | 'mixed'>): string | undefined {
  if (envelope !== undefined)
    return `The records are ${LIKENESSES[envelope]}: envelope: ${envelope}, and fields are those of the row.`;
  if (mixed.size === 0) return undefined;
  const counts = [...mixed].map(([one, count]) => `${count} are ${one === undefined ? 'others' : LIKENESSES[one]}`);
  return `The records are of several kinds, so no envelope was written: ${counts.join(', ')}. With one, the others would be poison: keep one kind in the topic.`;
}
