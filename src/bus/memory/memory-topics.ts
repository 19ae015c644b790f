import type { PartitionLease } from '../publisher.ts';
import { fillOfStart } from '../state-fill.ts';
import type { StateFill, StateFills, TopicFills } from '../state-fill.ts';

/** A partition and its last lease. */
export interface MemoryPartition {
  readonly topic: string;
  readonly partition: number;
  /** Of flow control: names the lease. */
  readonly stream: string;
  /** Offset up to which everything was accepted. */
  position: number;
  /** The last one. */
  readonly startId: string | undefined;
  fill: StateFill | undefined;
}

/** The partitions of the memory bus, and the epochs of their topics. There is one process, so each lease continues the one before. */
export class MemoryTopics implements StateFills {
  readonly places: readonly string[] = [];
  readonly #partitions = new Map<string, MemoryPartition>();
  /** By topic. */
  readonly #epochs = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  #leases = 0;

  acquire({ topic, partition, position, startId }: PartitionLease): MemoryPartition {
    const before = this.partitionOf(topic, partition);
    const isFresh = startId !== undefined && startId !== before?.startId;
    const accepted = before?.position ?? -1;
    const epoch = this.epochOf(topic);
    if (epoch === 0 || (isFresh && accepted >= 0)) this.#epochs.set(topic, Math.max(Date.now(), epoch + 1));
    const leased = {
      ...{ topic, partition, stream: `${topic}/${partition}.${++this.#leases}` },
      position: isFresh ? position : Math.max(accepted, position),
      startId: startId ?? before?.startId,
      fill: fillOfStart(startId) ?? before?.fill,
    };
    this.#partitions.set(`${topic}/${partition}`, leased);
    return leased;
  }

  /** undefined: it was not leased. */
  partitionOf(topic: string, partition: number): MemoryPartition | undefined {
    return this.#partitions.get(`${topic}/${partition}`);
  }

  /** 0: no partition of the topic was leased. */
  epochOf(topic: string): number {
    return this.#epochs.get(topic) ?? 0;
  }

  read(topic: string, count = this.#counts.get(topic) ?? 0): Promise<TopicFills> {
    this.#counts.set(topic, count);
    const fills = new Map<number, StateFill>();
    for (const one of this.#partitions.values()) {
      if (one.topic === topic && one.fill) fills.set(one.partition, one.fill);
    }
    return Promise.resolve({ partitions: count, epochs: new Set([this.epochOf(topic)]), fills });
  }

  end(topic: string, partition: number, signature: string): Promise<void> {
    const leased = this.partitionOf(topic, partition);
    if (leased?.fill?.signature === signature) leased.fill = { signature, end: undefined };
    return Promise.resolve();
  }
}
