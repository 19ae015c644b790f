import type { Cluster } from '../kafkajs/cluster.ts';
import type { GroupSession } from './group-session.ts';
import type { PartitionStanding } from './watchdog.ts';

/** Where the assigned partitions stand: accepted position, else the committed one, else the oldest record. */
export async function standingsOf(
  session: Pick<GroupSession, 'assignment' | 'isPaused'>,
  cluster: Pick<Cluster, 'partitionRanges' | 'committedOffsets'>,
  groupId: string,
): Promise<PartitionStanding[]> {
  const { assignment } = session;
  const topics = [...assignment.keys()];
  if (topics.length === 0) return [];
  // In this order: a position that was read before the end can only overstate the lag.
  const committed = await cluster.committedOffsets(groupId, topics);
  const ranges = await cluster.partitionRanges(topics);
  const standings: PartitionStanding[] = [];
  for (const [topic, partitions] of assignment) {
    for (const [partition, accepted] of partitions) {
      const range = ranges.get(topic)?.get(partition);
      if (!range) continue;
      const known = accepted ?? committed.get(topic)?.get(partition)?.offset ?? 0n;
      const position = known > range.low ? known : range.low;
      standings.push({
        topic,
        partition,
        position,
        end: range.end,
        isPaused: session.isPaused(topic, partition),
      });
    }
  }
  return standings;
}

/** Records between the positions and the ends, never negative. */
export function lagOf(standings: readonly PartitionStanding[]): number {
  let lag = 0n;
  for (const { position, end } of standings) if (end > position) lag += end - position;
  return Number(lag);
}
