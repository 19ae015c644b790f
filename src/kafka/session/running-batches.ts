import { Detachment } from './detachment.ts';
import { isKafkaError } from '../client/kafka-errors.ts';
import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';
import type { FlowWait } from './flow-wait.ts';
import type { InflightBudget } from '../client/fetching/inflight-budget.ts';

export interface RunningBatchesOptions {
  readonly budget: Pick<InflightBudget, 'hold' | 'releasePartition'>;
  readonly flow: Pick<FlowWait, 'whenRoom'>;
  readonly heartbeatIntervalMs: number;
  readonly heartbeat: () => Promise<void>;
  /** Called when a detached batch fails, which kafkajs does not notice. */
  readonly onFailure: (error: Error) => void;
}

interface Running extends TopicPartition {
  readonly detachment: Detachment;
  readonly signal: AbortSignal;
}

/**
 * The batches of a group session that are in progress: the batches that kafkajs waits for, and at most one detached batch for each partition.
 * Sends heartbeats while there are any.
 */
export class RunningBatches {
  readonly #options: RunningBatchesOptions;
  readonly #batches = new Map<Promise<void>, TopicPartition>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RunningBatchesOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the batch has ended or is detached. Then kafkajs continues.
   * @param process ends soon after the signal is aborted
   */
  async run(
    { topic, partition }: TopicPartition,
    process: (detachment: Detachment) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const detachment = new Detachment(this.#options.budget, partitionKey(topic, partition));
    const batch = this.#settle(process(detachment), { topic, partition, detachment, signal });
    this.#batches.set(batch, { topic, partition });
    this.#sendHeartbeats();
    await Promise.race([this.#forget(batch), detachment.happened]);
  }

  /** Resolves when the batches that run now have ended, even by failing. `isMeant`: only those of these partitions. */
  async ended(isMeant: (topic: string, partition: number) => boolean = () => true): Promise<void> {
    await Promise.allSettled(
      [...this.#batches].filter(([, { topic, partition }]) => isMeant(topic, partition)).map(([batch]) => batch),
    );
  }

  /** Sends no heartbeat after this. Idempotent. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Keeps no reference to the batch's records: a batch may drop them while its partition still waits. */
  async #settle(batch: Promise<void>, { topic, partition, detachment, signal }: Running): Promise<void> {
    const { budget, flow, onFailure } = this.#options;
    try {
      await batch;
      if (detachment.isDropped) await flow.whenRoom(topic, partition, signal);
    } catch (error) {
      if (!detachment.isDetached) throw error;
      // An error of kafkajs comes from a heartbeat. The next heartbeat that kafkajs sends fails with it, too.
      if (!signal.aborted && !isKafkaError(error)) onFailure(error as Error);
    } finally {
      budget.releasePartition(partitionKey(topic, partition));
    }
  }

  /** kafkajs sends heartbeats between batches only, and a batch may wait long for the bus. The batch itself detects a rebalance. */
  #sendHeartbeats(): void {
    const { heartbeat, heartbeatIntervalMs } = this.#options;
    this.#timer ??= setInterval(() => void heartbeat().catch(() => undefined), heartbeatIntervalMs);
  }

  async #forget(batch: Promise<void>): Promise<void> {
    try {
      await batch;
    } finally {
      this.#batches.delete(batch);
      if (this.#batches.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }
}
