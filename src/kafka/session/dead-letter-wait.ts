import { partitionKey } from '../partition-key.ts';

export interface WaitingPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Partitions that wait until their poison records are written to the dead-letter topic. Holds one entry for each of them. */
export class DeadLetterWait {
  readonly #onChange: (partitions: number) => void;
  readonly #waiting = new Map<string, WaitingPartition>();

  /** `onChange` receives the number of waiting partitions. */
  constructor(onChange: (partitions: number) => void) {
    this.#onChange = onChange;
  }

  get partitions(): readonly WaitingPartition[] {
    return [...this.#waiting.values()];
  }

  has(topic: string, partition: number): boolean {
    return this.#waiting.has(partitionKey(topic, partition));
  }

  add(topic: string, partition: number): void {
    this.#waiting.set(partitionKey(topic, partition), { topic, partition });
    this.#onChange(this.#waiting.size);
  }

  delete(topic: string, partition: number): void {
    if (this.#waiting.delete(partitionKey(topic, partition))) this.#onChange(this.#waiting.size);
  }

  clear(): void {
    this.#waiting.clear();
    this.#onChange(0);
  }
}
