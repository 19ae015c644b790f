import type { Logger } from '../../base/log.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import type { PartitionPosition } from './session-watchdog.ts';

export interface HeldPartition extends TopicPartition {
  /** Records that cannot be read before the transaction ends. */
  readonly records: number;
}

/**
 * Finds partitions that a producer holds up by a transaction that it does not end: all readable records are read, others follow, and none
 * became readable since the last look. Logs each once. The caller passes the positions of each look.
 */
export class OpenTransactions {
  readonly #log: Logger;
  /** Ends of the partitions that had unreadable records at the last look. */
  #ends = new Map<string, number>();
  #held = new Map<string, HeldPartition>();

  constructor(log: Logger) {
    this.#log = log;
  }

  get held(): readonly HeldPartition[] {
    return [...this.#held.values()];
  }

  /** The partitions are assigned anew. */
  forget(): void {
    this.#ends.clear();
    this.#held.clear();
  }

  observe(positions: readonly PartitionPosition[]): void {
    const ends = new Map<string, number>();
    const held = new Map<string, HeldPartition>();
    for (const { topic, partition, position, end, high } of positions) {
      if (high <= end || position < end) continue;
      const key = partitionKey(topic, partition);
      ends.set(key, end);
      if (this.#ends.get(key) === end) held.set(key, { topic, partition, records: high - end });
    }
    const before = this.#held;
    this.#ends = ends;
    this.#held = held;
    for (const [key, one] of held) {
      if (before.has(key)) continue;
      this.#log.warn(
        one,
        'a partition waits: a producer has an open transaction. Its later records are read once the producer has ended it, or the broker ' +
          'has aborted it (transaction.timeout.ms)',
      );
    }
    const ended = [...before]
      .filter(([key]) => !held.has(key))
      .map(([, { topic, partition }]) => ({ topic, partition }));
    if (ended.length > 0) this.#log.info({ partitions: ended }, 'the open transactions of partitions have ended');
  }
}
