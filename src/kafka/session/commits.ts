import kafkajs from 'kafkajs';
import type { EachBatchPayload } from 'kafkajs';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { PartitionLeases } from './partition-leases.ts';

/** Longest time that accepted records stay uncommitted. After a kill, the next owner may publish these records again. */
const COMMIT_INTERVAL_MS = 200;
const LOG_WINDOW_MS = 5000;

/** How a coordinator refuses a commit of a generation that has ended. The records are read again. */
const REBALANCE_ERRORS: ReadonlySet<string> = new Set([
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
]);

type Committer = Pick<EachBatchPayload, 'uncommittedOffsets' | 'commitOffsetsIfNecessary'>;

/** Commits the offsets of the records that one group session has accepted. */
export class Commits {
  readonly #leases: Pick<PartitionLeases, 'metadataOf' | 'skippedFrom'>;
  readonly #log: Logger;
  readonly #onFailure: () => void;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #committer: Committer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param onFailure called when a commit failed for another reason than a rebalance */
  constructor(leases: Pick<PartitionLeases, 'metadataOf' | 'skippedFrom'>, log: Logger, onFailure: () => void) {
    this.#leases = leases;
    this.#log = log;
    this.#onFailure = onFailure;
  }

  /** Later commits use this batch: kafkajs commits the resolved offsets of all partitions through any batch. */
  commitThrough(committer: Committer): void {
    this.#committer = committer;
  }

  /** Commits within 200 ms. */
  schedule(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.commitNow(), COMMIT_INTERVAL_MS);
  }

  /** Never rejects: after a failure the offsets are committed later, or their records are read again. */
  async commitNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#commit();
    } catch (error) {
      const isRebalance = error instanceof kafkajs.KafkaJSProtocolError && REBALANCE_ERRORS.has(error.type);
      const level = isRebalance ? 'debug' : 'warn';
      if (!isRebalance) this.#onFailure();
      this.#window.run(level, (suppressed) =>
        this.#log[level]({ err: { message: (error as Error).message }, suppressed }, 'commit failed'),
      );
      this.schedule();
    }
  }

  /** Schedules no commit after this. Idempotent. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Records with skipped messages stay uncommitted, for the next owner. */
  #committable(topic: string, partition: number, offset: string): string {
    const from = this.#leases.skippedFrom(topic, partition);
    return from !== undefined && from < Number(offset) ? `${from}` : offset;
  }

  async #commit(): Promise<void> {
    const { topics } = this.#committer?.uncommittedOffsets() ?? { topics: [] };
    if (topics.length === 0) return;
    await this.#committer!.commitOffsetsIfNecessary({
      topics: topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition, offset }) => ({
          partition,
          offset: this.#committable(topic, partition, offset),
          metadata: this.#leases.metadataOf(topic, partition),
        })),
      })),
    });
  }
}
