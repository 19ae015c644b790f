import type { Logger } from '../../base/log.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';

const CHECK_INTERVAL_MS = 250;
/** Between two retakes of a partition, in ms: a shard that comes and goes must not make the worker read the same records for ever. */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 60_000;

export interface SkippedPartitionsOptions {
  /** Assigned partitions with skipped messages, and the offset of the first one. */
  readonly skipped: () => readonly (TopicPartition & { readonly from: number })[];
  readonly canRetake: (topic: string, partition: number) => boolean;
  /** Reads the partition again from the offset. */
  readonly retake: (topic: string, partition: number, from: number) => void;
  /** Receives the number of partitions with skipped messages. */
  readonly onChange: (partitions: number) => void;
  readonly log: Logger;
}

interface Retaking {
  delayMs: number;
  /** Of performance.now(). */
  dueAt: number;
}

/** Partitions of which the bus skips some channels, because their shard is away. Each is read again once the shard is back. */
export class SkippedPartitions {
  readonly #options: SkippedPartitionsOptions;
  readonly #timer: NodeJS.Timeout;
  /** By partition, until a check finds nothing skipped. */
  readonly #retaking = new Map<string, Retaking>();
  #list: readonly TopicPartition[] = [];

  constructor(options: SkippedPartitionsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
  }

  get list(): readonly TopicPartition[] {
    return this.#list;
  }

  /** Idempotent. */
  close(): void {
    clearInterval(this.#timer);
    this.#tell([]);
  }

  #check(): void {
    const { canRetake, retake } = this.#options;
    const skipped = this.#options.skipped();
    const now = performance.now();
    const keys = new Set(skipped.map(({ topic, partition }) => partitionKey(topic, partition)));
    for (const [key, { dueAt }] of this.#retaking) if (!keys.has(key) && now >= dueAt) this.#retaking.delete(key);
    for (const { topic, partition, from } of skipped) {
      const key = partitionKey(topic, partition);
      const retaking = this.#retaking.get(key) ?? { delayMs: FIRST_DELAY_MS, dueAt: -Infinity };
      if (now < retaking.dueAt || !canRetake(topic, partition)) continue;
      this.#retaking.set(key, { delayMs: Math.min(2 * retaking.delayMs, MAX_DELAY_MS), dueAt: now + retaking.delayMs });
      retake(topic, partition, from);
    }
    this.#tell(skipped);
  }

  #tell(skipped: readonly TopicPartition[]): void {
    const { log, onChange } = this.#options;
    const before = this.#list.length;
    this.#list = skipped.map(({ topic, partition }) => ({ topic, partition }));
    if (this.#list.length === before) return;
    onChange(this.#list.length);
    const partitions = this.#list.length;
    if (before === 0) log.warn({ partitions }, 'a shard of the Redis Cluster is away: only its channels wait');
    if (partitions === 0) log.info('no channel waits for a shard of the Redis Cluster any more');
  }
}
