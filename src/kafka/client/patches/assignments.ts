import { decodeAssignment } from '../group-members.ts';
import type { OwnedPartitions } from '../owned-partitions.ts';
import type { RawBroker, RawCluster } from '../raw-cluster.ts';

/**
 * Calls `onAssigned` with each assignment that a consumer receives through this cluster. kafkajs 2.2.4 tells of an assignment without its
 * generation: two members that own the same partition could not be told apart.
 */
export function followAssignments(
  cluster: Pick<RawCluster, 'findGroupCoordinator'>,
  onAssigned: (owned: OwnedPartitions) => void,
): void {
  const { findGroupCoordinator } = cluster;
  const followed = new WeakSet<RawBroker>();
  cluster.findGroupCoordinator = async function (group) {
    const broker = await findGroupCoordinator.call(this, group);
    if (followed.has(broker)) return broker;
    followed.add(broker);
    const { syncGroup } = broker;
    broker.syncGroup = async function (request) {
      const synced = await syncGroup.call(this, request);
      onAssigned({ generation: request.generationId, partitions: decodeAssignment(synced.memberAssignment) });
      return synced;
    };
    return broker;
  };
}
