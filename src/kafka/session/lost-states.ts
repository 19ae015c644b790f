import type { TopicPartition } from '../partition-key.ts';
import type { KeptStates } from './start-offsets.ts';

/**
 * The assigned partitions, as `topic/partition`, whose states the bus has lost since their fill began: Redis came back without its data, or a
 * worker that keeps no states has published.
 * @throws BusUnavailableError
 */
export async function lostStates(
  { signatures, fills }: KeptStates,
  assigned: readonly TopicPartition[],
): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const topic of new Set(assigned.map((one) => one.topic))) {
    const signature = signatures.get(topic);
    if (signature === undefined) continue;
    const known = await fills.read(topic);
    for (const { partition } of assigned.filter((one) => one.topic === topic)) {
      // A worker that has not seen new partitions yet may have told fewer.
      if (known.partitions > 0 && partition >= known.partitions) continue;
      if (known.fills.get(partition)?.signature !== signature) lost.push(`${topic}/${partition}`);
    }
  }
  return lost;
}
