import { FencedError } from '../../base/errors.ts';
import type { Sender } from '../flow/sender.ts';
import { STATES_OF_KEY, TOMBSTONE, isDelete } from '../bus-message.ts';
import type { ChannelMessage } from '../bus-message.ts';
import type { PartitionLease, Position, Skips } from '../publisher.ts';
import { parsePositions, printPositions } from './cluster/tag-positions.ts';
import type { Accepted, PrintedMark, RedisFence } from './redis-fence.ts';
import { markChannel } from './redis-flow.ts';
import type { RedisFlow } from './redis-flow.ts';
import type { RedisTag } from './redis-tag.ts';
import type { RedisTopology } from './redis-topology.ts';

export interface RedisPublisherOptions {
  readonly topology: Pick<RedisTopology, 'tags' | 'tagIndexOf'>;
  /** One for each tag. */
  readonly fences: readonly RedisFence[];
  readonly flow: RedisFlow;
  readonly sender: Sender;
}

/** A partition that this process has leased. */
interface Lease {
  /** Its token for each leased tag, and its stream of flow control. */
  readonly token: string;
  /** Offset up to which every tag has accepted or skipped what it was given, also tags that were given nothing; -1: none. */
  accepted: number;
  /** Offset of the first skipped message, by the index of its tag. */
  readonly skipped: Map<number, number>;
  /** Of the records. A tag that was away since they began does not know it yet. */
  readonly startId: string | undefined;
  /** Up to where each tag had accepted the records when the partition was leased; undefined: unknown. */
  readonly positions: readonly number[] | undefined;
}

type DueMark = ReturnType<Sender['dueMark']>;

/** Publishes for the partitions that this process has leased, by one script for each tag. Holds an entry for each leased partition. */
export class RedisPublisher {
  readonly #tags: readonly RedisTag[];
  readonly #options: RedisPublisherOptions;
  /** By `topic/partition`. */
  readonly #leases = new Map<string, Lease>();

  constructor(options: RedisPublisherOptions) {
    this.#options = options;
    this.#tags = options.topology.tags;
  }

  /**
   * Leases the partition for every tag but those of a shard that is away, whose messages are skipped. A partition with states waits for all.
   * @throws BusUnavailableError, StateLostError
   */
  async acquire(request: PartitionLease): Promise<Skips | undefined> {
    const { topic, partition, keepsSkips, signature, startId } = request;
    const key = `${topic}/${partition}`;
    const { fences, flow, sender } = this.#options;
    const token = flow.nextStream();
    const positions = request.positions === undefined ? undefined : parsePositions(request.positions);
    const skipped = new Map(keepsSkips ? this.#leases.get(key)?.skipped : undefined);
    const canSkip = signature === undefined && this.#isAnyUp();
    const leased = fences.filter((_, i) => !skipped.has(i) && !(canSkip && this.#tags[i]!.isAway()));
    const knownOf = (fence: RedisFence) =>
      fences.length === 1 ? request.position : (positions?.[fences.indexOf(fence)] ?? -1);
    await allSettled(leased.map((fence) => fence.acquire({ ...request, position: knownOf(fence) }, token)));
    const lease = { token, accepted: -1, skipped, startId, positions };
    this.#leases.set(key, lease);
    sender.open(topic, partition, token);
    return fences.length === 1 ? undefined : this.#skipsOf(request, lease);
  }

  /** @throws BusUnavailableError or FencedError, like `Publisher.publish` */
  async publish(messages: readonly ChannelMessage[], upTo: Position): Promise<void> {
    const lease = this.#leases.get(`${upTo.topic}/${upTo.partition}`);
    if (!lease) throw new FencedError(`${upTo.topic}/${upTo.partition} was not leased`);
    const { sender } = this.#options;
    const mark = sender.dueMark(lease.token, bytesOf(messages));
    if (this.#tags.length > 1) return this.#publishShares(lease, messages, upTo, mark);
    const { received } = await this.#publishShare(0, messages, upTo, mark);
    sender.add(lease.token, received);
  }

  /** Requests credit from the gateways of a partition. */
  ask(topic: string, partition: number): void {
    const { flow, sender } = this.#options;
    const stream = this.#leases.get(`${topic}/${partition}`)?.token;
    if (stream === undefined) return;
    flow.ask({ topic, partition, stream, bytes: sender.published(stream), isQuestion: true });
  }

  #skipsOf({ topic, partition }: PartitionLease, { skipped, startId, positions }: Lease): Skips {
    const positionOf = (fence: RedisFence, index: number) =>
      Math.max(fence.positionOf(topic, partition, startId), positions?.[index] ?? -1);
    return {
      from: () => (skipped.size > 0 ? Math.min(...skipped.values()) : undefined),
      canRetake: () => [...skipped.keys()].every((index) => this.#tags[index]!.publisher.isUp),
      positions: () => printPositions(this.#options.fences.map(positionOf)),
    };
  }

  #isAnyUp(): boolean {
    return this.#tags.some(({ publisher }) => publisher.isUp);
  }

  #publishShare(index: number, messages: readonly ChannelMessage[], upTo: Position, mark: DueMark): Promise<Accepted> {
    return this.#options.fences[index]!.publish(messages, upTo, mark && printMark(this.#tags[index]!, mark));
  }

  /**
   * Publishes the messages of each tag by a script of their own; the mark follows those of the last tag. Then the other tags learn which records
   * have come to a channel: they may have left one of theirs.
   */
  async #publishShares(
    lease: Lease,
    messages: readonly ChannelMessage[],
    upTo: Position,
    mark: DueMark,
    isSecond = false,
  ): Promise<void> {
    const { sender } = this.#options;
    const shares = [...this.#spread(messages, lease.accepted)].filter(([index, share]) => {
      if (!this.#isSkipped(lease, index, upTo)) return true;
      lease.skipped.set(index, Math.min(lease.skipped.get(index) ?? Infinity, share[0]!.offset));
      return false;
    });
    const last = shares.length - 1;
    const allMoved: ChannelMessage[] = [];
    await allSettled(
      shares.map(async ([index, share], i) => {
        const { received, moved } = await this.#publishShare(index, share, upTo, i === last ? mark : undefined);
        // Departures nobody receives are no publish without receivers, which would give the partition more room.
        if (received > 0 || !isSecond) sender.add(lease.token, received);
        allMoved.push(...moved);
      }),
    );
    if (allMoved.length > 0) await this.#publishShares(lease, departuresOf(allMoved, messages), upTo, undefined, true);
    lease.accepted = Math.max(lease.accepted, upTo.offset);
  }

  /** Once a message of a tag is skipped, so are those after it, until the partition is leased again. */
  #isSkipped({ skipped, token }: Lease, index: number, { topic, partition }: Position): boolean {
    if (skipped.has(index) || this.#options.fences[index]!.tokenOf(topic, partition) !== token) return true;
    return this.#tags[index]!.isAway() && this.#isAnyUp();
  }

  /**
   * The messages by the index of their tag, in order.
   * @param accepted offset up to which they are left out
   */
  #spread(messages: readonly ChannelMessage[], accepted: number): Map<number, ChannelMessage[]> {
    const { topology } = this.#options;
    const shares = new Map<number, ChannelMessage[]>();
    const add = (index: number, message: ChannelMessage) => {
      const share = shares.get(index);
      if (share) share.push(message);
      else shares.set(index, [message]);
    };
    for (const message of messages) {
      if (message.offset <= accepted) continue;
      if (message.channel === STATES_OF_KEY) this.#tags.forEach((_, index) => add(index, message));
      else add(topology.tagIndexOf(message.channel), message);
    }
    return shares;
  }
}

/**
 * For each key of a moved message, of its last message among all: the message for the channels that its record has left. They do not receive
 * what it carries of its record.
 */
function departuresOf(moved: readonly ChannelMessage[], all: readonly ChannelMessage[]): ChannelMessage[] {
  const keyOf = ({ history, keyHash }: ChannelMessage) => `${history?.keyIndex} ${keyHash}`;
  const last = new Map(moved.map((message) => [keyOf(message), message]));
  for (const message of all)
    if (message.keyHash !== undefined && !isDelete(message.payload) && last.has(keyOf(message)))
      last.set(keyOf(message), message);
  const departures = Array.from(last.values(), (message): ChannelMessage => {
    return { ...message, channel: STATES_OF_KEY, payload: TOMBSTONE, record: undefined, isDeparture: true };
  });
  return departures.sort((a, b) => a.offset - b.offset);
}

function printMark(tag: RedisTag, { bytes, isQuestion }: NonNullable<DueMark>): PrintedMark {
  return [markChannel(tag), `${bytes}`, isQuestion ? '?' : ''];
}

/** Size of all payloads; that of a text in UTF-16 code units, which approximates its bytes. */
function bytesOf(messages: readonly ChannelMessage[]): number {
  let bytes = 0;
  for (const { payload } of messages) bytes += payload.length;
  return bytes;
}

/** Rejects with the first rejection once all have settled: a retry must not overlap with commands in flight. */
async function allSettled(promises: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === 'rejected') throw outcome.reason;
}
