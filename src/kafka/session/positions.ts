import type { Cluster } from '../client/cluster.ts';
import type { GroupSession } from './group-session.ts';
import type { PartitionPosition } from './session-watchdog.ts';

/** Positions of the assigned partitions. A position is the first known of: accepted offset, committed offset, oldest record. */
export async function positionsOf(
  session: Pick<GroupSession, 'assignment' | 'isPaused'>,
  cluster: Pick<Cluster, 'partitionRanges' | 'committedOffsets'>,
  groupId: string,
): Promise<PartitionPosition[]> {
  const { assignment } = session;
  const topics = [...assignment.keys()];
  if (topics.length === 0) return [];
  // In this order: a position that is read before the end can only overstate the lag.
  const committed = await cluster.committedOffsets(groupId, topics);
  const ranges = await cluster.partitionRanges(topics);
  const positions: PartitionPosition[] = [];
  for (const [topic, partitions] of assignment) {
    for (const [partition, accepted] of partitions) {
      const range = ranges.get(topic)?.get(partition);
      if (!range) continue;
      const { low, end, high } = range;
      const known = accepted ?? committed.get(topic)?.get(partition)?.offset ?? 0;
      const position = Math.max(known, low);
      positions.push({ topic, partition, position, end, high, isPaused: session.isPaused(topic, partition) });
    }
  }
  return positions;
}
