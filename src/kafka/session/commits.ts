import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { GroupConsumer } from '../client/group-consumer.ts';
import { isRebalance } from '../client/kafka-errors.ts';
import type { PartitionLeases } from './partition-leases.ts';

/** Longest time that accepted records stay uncommitted. After a kill, the next owner may publish these records again. */
const COMMIT_INTERVAL_MS = 200;
const LOG_WINDOW_MS = 5000;

/** Commits the offsets of the records that one group session has accepted. */
export class Commits {
  readonly #consumer: Pick<GroupConsumer, 'commitResolved'>;
  readonly #leases: Pick<PartitionLeases, 'metadataOf' | 'skippedFrom'>;
  readonly #log: Logger;
  readonly #onFailure: () => void;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param onFailure called when a commit failed for another reason than a rebalance */
  constructor(
    consumer: Pick<GroupConsumer, 'commitResolved'>,
    leases: Pick<PartitionLeases, 'metadataOf' | 'skippedFrom'>,
    log: Logger,
    onFailure: () => void,
  ) {
    this.#consumer = consumer;
    this.#leases = leases;
    this.#log = log;
    this.#onFailure = onFailure;
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
      await this.#consumer.commitResolved(({ topic, partition, offset }) => {
        const metadata = this.#leases.metadataOf(topic, partition);
        // It is being positioned: its next owner needs what the last commit tells.
        if (metadata === undefined) return undefined;
        return { offset: this.#committable(topic, partition, offset), metadata };
      });
    } catch (error) {
      const level = isRebalance(error) ? 'debug' : 'warn';
      if (level === 'warn') this.#onFailure();
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
  #committable(topic: string, partition: number, offset: number): number {
    return Math.min(offset, this.#leases.skippedFrom(topic, partition) ?? offset);
  }
}
