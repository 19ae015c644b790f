import { BusUnavailableError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { PartitionMap } from '../client/cluster.ts';
import type { GroupConsumer } from '../client/group-consumer.ts';
import { isRebalance } from '../client/kafka-errors.ts';
import type { WorkerObserver } from '../observer.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import type { AssignedPartition } from './assignment.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { RetryWait } from './retry-wait.ts';
import type { PartitionOffset, StartOffsets } from './start-offsets.ts';
import type { PendingFill, StateFilling } from './state-filling.ts';

const MAX_ATTEMPTS = 5;

export interface PositioningOptions {
  readonly consumer: Pick<GroupConsumer, 'seek' | 'commit' | 'resume'>;
  readonly startOffsets: Pick<StartOffsets, 'lookUp'>;
  readonly leases: Pick<PartitionLeases, 'assign' | 'acquire'>;
  /** undefined: the worker keeps no states. */
  readonly filling: Pick<StateFilling, 'assign'> | undefined;
  /** For the bus. */
  readonly wait: Pick<RetryWait, 'add' | 'delete'>;
  readonly observer: Pick<WorkerObserver, 'onMissedRecords'>;
  readonly log: Logger;
  readonly onFailure: (error: Error) => void;
}

/** Positions the partitions whose ownership begins. They are paused before, and resumed after it. */
export class Positioning {
  readonly #options: PositioningOptions;

  constructor(options: PositioningOptions) {
    this.#options = options;
  }

  /**
   * Positions the partitions, or lets them wait for the bus and be tried again: a session that failed instead would make every member of the
   * group join again. Never rejects.
   * @param signal aborted by the next join, which positions them again, and when the session closes
   * @returns false if the signal is aborted or the session has failed
   */
  async run(gained: readonly AssignedPartition[], signal: AbortSignal, isRetry = false): Promise<boolean> {
    const { consumer, wait, onFailure } = this.#options;
    try {
      const unknown = new Set(
        (await this.#place(gained, signal)).map(({ topic, partition }) => partitionKey(topic, partition)),
      );
      if (signal.aborted) return false;
      for (const { topic, partition, ownership } of gained) {
        ownership.isUnknown = unknown.has(partitionKey(topic, partition));
        ownership.isPositioned = !ownership.isUnknown;
        if (isRetry) wait.delete(topic, partition);
      }
      consumer.resume(gained.filter(({ ownership }) => ownership.isPositioned));
    } catch (error) {
      // A rebalance refuses the commits of its last generation: the join that follows positions the partitions.
      if (signal.aborted || isRebalance(error)) return false;
      if (!(error instanceof BusUnavailableError)) onFailure(error as Error);
      else this.#runLater(gained, signal, error);
      return error instanceof BusUnavailableError;
    }
    return true;
  }

  /** The first partition that is due tries again for all. */
  #runLater(gained: readonly AssignedPartition[], signal: AbortSignal, error: BusUnavailableError): void {
    let isDue = false;
    const retry = () => {
      if (isDue || signal.aborted) return;
      isDue = true;
      void this.run(gained, signal, true);
    };
    for (const { topic, partition } of gained) this.#options.wait.add(topic, partition, retry, error);
  }

  /**
   * Looks up where the partitions resume. Commits new start ids, then looks them up again. May be repeated.
   * @returns partitions whose place is not known yet
   * @throws BusUnavailableError, StateLostError if the worker keeps states
   */
  async #place(gained: readonly TopicPartition[], signal: AbortSignal): Promise<readonly TopicPartition[]> {
    const { consumer, startOffsets, leases } = this.#options;
    const assignment = byTopic(gained);
    for (let attempt = 1; ; attempt++) {
      const { unknown, resumePoints, uncommitted, pendingFills } = await startOffsets.lookUp(assignment);
      if (signal.aborted) return [];
      leases.assign(resumePoints);
      if (uncommitted.length === 0) {
        await this.#fill(pendingFills, signal);
        return unknown;
      }
      if (attempt > MAX_ATTEMPTS) throw new Error('the start offsets of partitions could not be committed');
      for (const start of uncommitted) consumer.seek(start);
      await consumer.commit(uncommitted);
      for (const start of uncommitted) this.#onStart(start);
    }
  }

  /** Leases the partitions of fills at once: a fill of a partition without records would never begin otherwise. */
  async #fill(pendingFills: readonly PendingFill[], signal: AbortSignal): Promise<void> {
    const { leases, filling } = this.#options;
    for (const { topic, partition, next } of pendingFills) await leases.acquire(topic, partition, next);
    if (!signal.aborted) filling?.assign(pendingFills);
  }

  #onStart({ topic, partition, offset, jump }: PartitionOffset): void {
    if (!jump) return;
    const { reason, committed, records } = jump;
    const places = { topic, partition, committed: `${committed}`, from: `${offset}` };
    const { log, observer } = this.#options;
    if (reason === 'deleted') {
      observer.onMissedRecords(topic, records);
      log.warn(
        { ...places, records: records },
        'records were deleted before they were read; keep records longer in the topic than workers may be away or behind',
      );
    } else if (reason === 'recreated') {
      log.warn(places, 'the topic was deleted and created again: its records are read from the oldest on');
    } else if (reason === 'shorter') {
      log.warn(places, 'the partition ends before the last commit: its topic was created again, or has lost records');
    } else {
      log.warn(
        places,
        'another program has set the offset of the consumer group: records may be skipped, or read again',
      );
    }
  }
}

function byTopic(partitions: readonly TopicPartition[]): PartitionMap<undefined> {
  const topics = new Map<string, Map<number, undefined>>();
  for (const { topic, partition } of partitions) {
    const ofTopic = topics.get(topic) ?? new Map<number, undefined>();
    topics.set(topic, ofTopic.set(partition, undefined));
  }
  return topics;
}
