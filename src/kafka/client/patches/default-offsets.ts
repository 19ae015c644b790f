import type { PartitionAssigner } from 'kafkajs';
import type { RawCluster } from '../raw-cluster.ts';

/**
 * An assigner whose consumer looks up no offsets where the group has no commit: each partition is positioned before it is read. kafkajs would
 * ask for the offsets of those that wait for that, and read nothing at all while a leader does not answer.
 */
export function withoutDefaultOffsets(assigner: PartitionAssigner): PartitionAssigner {
  return (tools) => {
    const cluster = tools.cluster as unknown as Pick<RawCluster, 'fetchTopicsOffset'>;
    cluster.fetchTopicsOffset = (topics) => Promise.resolve(topics.map(({ topic }) => ({ topic, partitions: [] })));
    return assigner(tools);
  };
}
