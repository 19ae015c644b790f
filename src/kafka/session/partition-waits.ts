import type { Logger } from '../../log.ts';
import { BusPause } from './bus-pause.ts';
import { DeadLetterWait } from './dead-letter-wait.ts';
import type { FlowWait } from './flow-wait.ts';

/** Why a partition is not read now. */
export interface PartitionWait {
  readonly topic: string;
  readonly partition: number;
  readonly for: 'bus' | 'dead-letter topic' | 'gateways';
  /** The gateway that lags most, if it is known. */
  readonly gateway?: string | undefined;
}

export interface PartitionWaitsOptions {
  readonly flow: Pick<FlowWait, 'has' | 'partitions'>;
  readonly log: Logger;
  /** Receives the number of partitions that wait for the bus. */
  readonly onPausedPartitions: (partitions: number) => void;
  /** Receives the number of partitions that wait for the dead-letter topic. */
  readonly onWaitingPartitions: (partitions: number) => void;
}

/** The three reasons for which a partition is not read: the bus, the dead-letter topic, and the gateways. */
export class PartitionWaits {
  readonly bus: BusPause;
  readonly deadLetters: DeadLetterWait;
  readonly #flow: PartitionWaitsOptions['flow'];

  constructor({ flow, log, onPausedPartitions, onWaitingPartitions }: PartitionWaitsOptions) {
    this.bus = new BusPause({ log, onChange: onPausedPartitions });
    this.deadLetters = new DeadLetterWait(onWaitingPartitions);
    this.#flow = flow;
  }

  has(topic: string, partition: number): boolean {
    return [this.bus, this.deadLetters, this.#flow].some((wait) => wait.has(topic, partition));
  }

  get list(): readonly PartitionWait[] {
    return [
      ...this.#flow.partitions.map((one) => ({ ...one, for: 'gateways' as const })),
      ...this.bus.partitions.map(({ topic, partition }) => ({ topic, partition, for: 'bus' as const })),
      ...this.deadLetters.partitions.map((one) => ({ ...one, for: 'dead-letter topic' as const })),
    ];
  }
}
