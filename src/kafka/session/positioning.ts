import type { PartitionMap } from '../client/cluster.ts';
import type { GroupConsumer } from '../client/group-consumer.ts';
import type { TopicPartition } from '../partition-key.ts';
import type { Generation } from './generation.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { PartitionOffset, StartOffsets } from './start-offsets.ts';
import type { PendingFill, StateFilling } from './state-filling.ts';

const MAX_ATTEMPTS = 5;

/** Positions the partitions that the group has assigned. */
export class Positioning {
  readonly #consumer: Pick<GroupConsumer, 'seek' | 'commit'>;
  readonly #startOffsets: Pick<StartOffsets, 'lookUp'>;
  readonly #leases: Pick<PartitionLeases, 'assign' | 'acquire'>;
  readonly #filling: Pick<StateFilling, 'assign'> | undefined;
  readonly #onStart: (start: PartitionOffset) => void;

  /**
   * @param filling undefined: the worker keeps no states
   * @param onStart called for each new start id that is committed
   */
  constructor(
    consumer: Pick<GroupConsumer, 'seek' | 'commit'>,
    startOffsets: Pick<StartOffsets, 'lookUp'>,
    leases: Pick<PartitionLeases, 'assign' | 'acquire'>,
    filling: Pick<StateFilling, 'assign'> | undefined,
    onStart: (start: PartitionOffset) => void,
  ) {
    this.#onStart = onStart;
    this.#consumer = consumer;
    this.#startOffsets = startOffsets;
    this.#leases = leases;
    this.#filling = filling;
  }

  /**
   * Looks up where the partitions resume. Commits new start ids, then looks them up again. May be repeated.
   * @returns partitions whose place is not known yet
   * @throws BusUnavailableError, StateLostError if the worker keeps states
   */
  async run(assignment: PartitionMap<unknown>, generation: Generation): Promise<readonly TopicPartition[]> {
    for (let attempt = 1; ; attempt++) {
      const { unknown, resumePoints, uncommitted, pendingFills } = await this.#startOffsets.lookUp(assignment);
      if (generation.hasEnded) return [];
      this.#leases.assign(resumePoints);
      if (uncommitted.length === 0) {
        await this.#fill(pendingFills, generation);
        return unknown;
      }
      if (attempt > MAX_ATTEMPTS) throw new Error('the start offsets of partitions could not be committed');
      for (const start of uncommitted) this.#consumer.seek(start);
      await this.#consumer.commit(uncommitted);
      for (const start of uncommitted) this.#onStart(start);
    }
  }

  /** Leases the partitions of fills at once: a fill of a partition without records would never begin otherwise. */
  async #fill(pendingFills: readonly PendingFill[], generation: Generation): Promise<void> {
    for (const { topic, partition, next } of pendingFills) await this.#leases.acquire(topic, partition, next);
    if (!generation.hasEnded) this.#filling?.assign(pendingFills);
  }
}
