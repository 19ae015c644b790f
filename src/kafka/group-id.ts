import type { SettingNames } from '../config/setting-names.ts';
import type { Logger } from '../base/log.ts';
import type { Cluster } from './client/cluster.ts';
import type { GroupMember } from './client/group-members.ts';
import { isGroupForbidden } from './client/kafka-errors.ts';

/** The default of former versions, whatever the graph. */
export const FORMER_GROUP_ID = 'crier';

export function graphGroupId(graph: string): string {
  return `crier-${graph}`;
}

/**
 * The consumer group of workers without KAFKA_GROUP_ID: it has the graph's name, so that two graphs do not meet in one group. A deployment of a
 * former version keeps its group: workers go on in `crier` if that has commits of their topics and the group with the graph's name has none,
 * unless workers of another graph read one of these topics there. All workers of a graph decide alike, because Kafka decides.
 *
 * @param topics those that exist
 */
export async function defaultGroupId(
  graph: string,
  topics: readonly string[],
  cluster: Pick<Cluster, 'committedOffsets' | 'groupMembers' | 'hasCommits'>,
  { log, names }: { readonly log: Logger; readonly names: SettingNames },
): Promise<string> {
  const groupId = graphGroupId(graph);
  const former = await ifAllowed(cluster.committedOffsets(FORMER_GROUP_ID, topics));
  if (![...(former?.values() ?? [])].some((partitions) => partitions.size > 0)) return groupId;
  if (await ifAllowed(cluster.hasCommits(groupId))) return groupId;
  const members = (await ifAllowed(cluster.groupMembers(FORMER_GROUP_ID))) ?? [];
  const isOfAnother = (member: GroupMember) =>
    member.graph !== undefined && member.graph !== graph && member.topics.some((topic) => topics.includes(topic));
  if (members.some(isOfAnother)) return groupId;
  log.warn(
    { groupId: FORMER_GROUP_ID },
    `${names.KAFKA_GROUP_ID} is not set: this worker goes on in the group ${FORMER_GROUP_ID}, the default of former versions, which has commits of its topics. ` +
      `Set ${names.KAFKA_GROUP_ID}=${FORMER_GROUP_ID} to keep it; with ${names.KAFKA_GROUP_ID}=${groupId}, the default for this graph, it would begin at the end of the topics`,
  );
  return FORMER_GROUP_ID;
}

/** undefined: this user has no right on the group. */
async function ifAllowed<Reply>(reply: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await reply;
  } catch (error) {
    if (isGroupForbidden(error)) return undefined;
    throw error;
  }
}
