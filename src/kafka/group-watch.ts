import type { SettingNames } from '../config/setting-names.ts';
import type { Logger } from '../base/log.ts';
import type { Cluster } from './client/cluster.ts';
import type { GroupMember } from './client/group-members.ts';

/** A member of the consumer group whose graph differs from this one's. */
export interface DifferingMember {
  /** Name of its process; of a member of a former version, the id that the group has given it. */
  readonly member: string;
  /** undefined: it does not say. */
  readonly graph: string | undefined;
  /** Topics that it reads and this member does not. */
  readonly adds: readonly string[];
  /** Topics that this member reads and it does not. */
  readonly lacks: readonly string[];
}

export interface GroupWatchOptions {
  readonly cluster: Pick<Cluster, 'groupMembers'>;
  readonly groupId: () => string;
  /** Name of this member's graph. */
  readonly graph: () => string | undefined;
  /** The topics of this member's graph. */
  readonly topics: () => readonly string[];
  readonly log: Logger;
  readonly names: SettingNames;
}

/** Compares the members of the consumer group after each join. Every member looks: the group's leader may be of another version. */
export class GroupWatch {
  readonly #options: GroupWatchOptions;
  /** Last logged, by what it is about. */
  readonly #logged = new Map<string, string>();
  #joins = 0;
  #isCurrent = true;
  #differing: readonly DifferingMember[] = [];
  #unread: readonly string[] = [];

  constructor(options: GroupWatchOptions) {
    this.#options = options;
  }

  /** Members with other topics, or with a graph of another name. */
  get differing(): readonly DifferingMember[] {
    return this.#differing;
  }

  /** This member's topics of which partitions were given to nobody who reads them. */
  get unreadTopics(): readonly string[] {
    return this.#unread;
  }

  /** The next look finds other members. Call at each join. */
  onJoin(): void {
    this.#joins++;
    this.#isCurrent = false;
  }

  /** Looks once after each join, as soon as the group is stable. Never rejects. */
  async look(): Promise<void> {
    if (this.#isCurrent) return;
    const { cluster, groupId, log } = this.#options;
    const joins = this.#joins;
    try {
      const members = await cluster.groupMembers(groupId());
      if (!members || joins !== this.#joins) return;
      this.#isCurrent = true;
      this.#compare(members);
    } catch (error) {
      const { name, message } = error as Error;
      log.debug({ err: { message: `${name}: ${message}` } }, 'looking at the members of the consumer group failed');
    }
  }

  #compare(members: readonly GroupMember[]): void {
    const { log, names } = this.#options;
    const groupId = this.#options.groupId();
    const own = new Set(this.#options.topics());
    const ofTopics = members.filter(({ topics }) => topics.some((topic) => own.has(topic)));
    const places = new Set(ofTopics.flatMap(({ place }) => place ?? [])).size;
    this.#onChange('places', places > 1 ? places : undefined, () =>
      log.error(
        { groupId, places, members: ofTopics.length },
        `the workers of this consumer group differ in their Redis or ${names.CHANNEL_PREFIX}, so every gateway misses a part of the events: ` +
          `give them the same ${names.REDIS_URL} and ${names.CHANNEL_PREFIX}, or a ${names.KAFKA_GROUP_ID} for each`,
      ),
    );
    const differing = (this.#differing = members.flatMap((member) => this.#differenceOf(member) ?? []));
    this.#onChange('members', differing.length > 0 ? differing : undefined, () => {
      if (differing.length === 0)
        log.info({ groupId }, 'the members of this consumer group have the same topics again');
      else
        log.warn(
          { groupId, members: differing },
          'members of this consumer group have other topics or another graph: each topic is read by the members that have it. ' +
            `A rolling update ends this by itself; give different graphs a ${names.KAFKA_GROUP_ID} each, for none receives all records of a topic that they share`,
        );
    });
    const unread = (this.#unread = unreadTopics(own, members));
    this.#onChange('unread', unread.length > 0 ? unread : undefined, () => {
      if (unread.length > 0)
        log.error(
          { groupId, topics: unread },
          "partitions of these topics are read by nobody: the group's leader is of a former version of crier, or may not describe the topics. " +
            'End the pods of the former version, or grant Describe on the topics to all workers of the group',
        );
    });
  }

  #differenceOf({ memberId, pod, graph, topics, missingTopics = [] }: GroupMember): DifferingMember | undefined {
    const own = this.#options.topics();
    const ownGraph = this.#options.graph();
    const its = new Set([...topics, ...missingTopics]);
    const adds = [...its].filter((topic) => !own.includes(topic)).toSorted();
    const lacks = own.filter((topic) => !its.has(topic)).toSorted();
    const isOther = graph !== undefined && ownGraph !== undefined && graph !== ownGraph;
    return isOther || adds.length + lacks.length > 0 ? { member: pod ?? memberId, graph, adds, lacks } : undefined;
  }

  /** Calls `write` unless the value is the one that was logged last. */
  #onChange(about: string, value: unknown, write: () => void): void {
    const text = value === undefined ? '' : JSON.stringify(value);
    if (text === (this.#logged.get(about) ?? '')) return;
    this.#logged.set(about, text);
    write();
  }
}

/** Topics that somebody has subscribed to, and of which a partition was given to a member without that topic, or all to nobody. */
function unreadTopics(own: ReadonlySet<string>, members: readonly GroupMember[]): string[] {
  const subscribed = members.flatMap(({ topics }) => topics.filter((topic) => own.has(topic)));
  return [...new Set(subscribed)].toSorted().filter((topic) => {
    const owners = members.filter(({ assigned }) => assigned.has(topic));
    return owners.length === 0 || owners.some(({ topics }) => !topics.includes(topic));
  });
}
