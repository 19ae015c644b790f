import { partitionKey } from '../partition-key.ts';

export interface StoppedPartition {
  readonly topic: string;
  readonly partition: number;
  /** Why its topic is stopped, and what to correct. */
  readonly error: string;
}

/** Assigned partitions of topics that are stopped (undecodable-limit.ts). Nothing resumes them. Holds one entry for each of them. */
export class StoppedPartitions {
  readonly #onChange: (partitions: number) => void;
  readonly #stopped = new Map<string, StoppedPartition>();

  /** `onChange` receives the number of stopped partitions. */
  constructor(onChange: (partitions: number) => void) {
    this.#onChange = onChange;
  }

  get partitions(): readonly StoppedPartition[] {
    return [...this.#stopped.values()];
  }

  has(topic: string, partition: number): boolean {
    return this.#stopped.has(partitionKey(topic, partition));
  }

  add(stopped: StoppedPartition): void {
    this.#stopped.set(partitionKey(stopped.topic, stopped.partition), stopped);
    this.#onChange(this.#stopped.size);
  }

  clear(): void {
    this.#stopped.clear();
    this.#onChange(0);
  }
}
