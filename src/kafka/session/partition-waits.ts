import type { Logger } from '../../base/log.ts';
import type { WorkerObserver } from '../observer.ts';
import type { TopicPartition } from '../partition-key.ts';
import { FormatUnavailableError } from '../decoding/schema-errors.ts';
import type { SchemaId } from '../decoding/wire-format.ts';
import type { FlowWait } from './flow-wait.ts';
import { RetryWait } from './retry-wait.ts';
import { WaitingPartitions } from './waiting-partitions.ts';

/** Why a partition is not read now. */
export interface PartitionWait extends TopicPartition {
  /** `a shard of the Redis Cluster`: only the channels of the shard wait. */
  readonly for:
    | 'bus'
    | 'a shard of the Redis Cluster'
    | 'dead-letter topic'
    | 'gateways'
    | 'schema registry'
    | 'a format of the graph'
    | 'a corrected configuration'
    | 'a leader'
    | 'the end of a transaction';
  /** The gateway that lags most, if it is known. */
  readonly gateway?: string | undefined;
  /** Records that wait for the end of the transaction. */
  readonly records?: number;
  /** Id of the schema that its next record needs. */
  readonly schema?: SchemaId | undefined;
  /** Why the schema or the format cannot be had; why its topic is stopped, and what to correct. */
  readonly error?: string;
}

export interface PartitionWaitsOptions {
  readonly flow: Pick<FlowWait, 'has' | 'partitions'>;
  readonly log: Logger;
  readonly observer: Pick<
    WorkerObserver,
    'onPausedPartitions' | 'onWaitingPartitions' | 'onSchemaWaits' | 'onStoppedPartitions'
  >;
}

/** The reasons for which a partition is not read: the bus, the schema registry, the dead-letter topic, the gateways, and a stopped topic. */
export class PartitionWaits {
  readonly bus: RetryWait;
  readonly schemas: RetryWait;
  readonly deadLetters: WaitingPartitions;
  /** Their topics are stopped (undecodable-limit.ts): nothing resumes them. `error`: why, and what to correct. */
  readonly stopped: WaitingPartitions<TopicPartition & { readonly error: string }>;
  readonly #flow: PartitionWaitsOptions['flow'];

  constructor({ flow, log, observer }: PartitionWaitsOptions) {
    const ofBus = { pause: 'the bus refuses messages', resume: 'the bus accepts messages' };
    const ofSchemas = { pause: "a record's schema or format cannot be had", resume: 'schemas and formats can be had' };
    this.bus = new RetryWait({ log, reasons: ofBus, onChange: (count) => observer.onPausedPartitions(count) });
    this.schemas = new RetryWait({ log, reasons: ofSchemas, onChange: (count) => observer.onSchemaWaits(count) });
    this.deadLetters = new WaitingPartitions((count) => observer.onWaitingPartitions(count));
    this.stopped = new WaitingPartitions((count) => observer.onStoppedPartitions(count));
    this.#flow = flow;
  }

  has(topic: string, partition: number): boolean {
    const waits = [this.bus, this.schemas, this.deadLetters, this.stopped, this.#flow];
    return waits.some((wait) => wait.has(topic, partition));
  }

  get list(): readonly PartitionWait[] {
    return [
      ...this.#flow.partitions.map((one) => ({ ...one, for: 'gateways' as const })),
      ...this.bus.partitions.map(({ topic, partition }) => ({ topic, partition, for: 'bus' as const })),
      ...this.schemas.partitions.map(({ topic, partition, schema, error }) => {
        const cause: PartitionWait['for'] =
          error instanceof FormatUnavailableError ? 'a format of the graph' : 'schema registry';
        return { topic, partition, for: cause, schema, error: error.message };
      }),
      ...this.deadLetters.partitions.map((one) => ({ ...one, for: 'dead-letter topic' as const })),
      ...this.stopped.partitions.map((one) => ({ ...one, for: 'a corrected configuration' as const })),
    ];
  }

  /** A partition whose ownership begins waits for no dead letters, and is not stopped. Partitions that another member has are forgotten. */
  reassign(
    isAssigned: (topic: string, partition: number) => boolean,
    isKept: (topic: string, partition: number) => boolean,
  ): void {
    this.deadLetters.retain(isKept);
    this.stopped.retain(isKept);
    this.bus.retain(isAssigned);
    this.schemas.retain(isAssigned);
  }

  /** Resumes no partition after this. Idempotent. */
  close(): void {
    this.deadLetters.clear();
    this.stopped.clear();
    this.bus.close();
    this.schemas.close();
  }
}
