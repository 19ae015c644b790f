import { partitionKey } from '../partition-key.ts';
import type { TopicPartition } from '../partition-key.ts';

/** Assigned partitions that wait for something. Holds one entry for each of them. */
export class WaitingPartitions<Waiting extends TopicPartition = TopicPartition> {
  readonly #onChange: (partitions: number) => void;
  readonly #waiting = new Map<string, Waiting>();

  /** `onChange` receives the number of waiting partitions. */
  constructor(onChange: (partitions: number) => void) {
    this.#onChange = onChange;
  }

  get partitions(): readonly Waiting[] {
    return [...this.#waiting.values()];
  }

  has(topic: string, partition: number): boolean {
    return this.#waiting.has(partitionKey(topic, partition));
  }

  add(waiting: Waiting): void {
    this.#waiting.set(partitionKey(waiting.topic, waiting.partition), waiting);
    this.#onChange(this.#waiting.size);
  }

  delete(topic: string, partition: number): void {
    if (this.#waiting.delete(partitionKey(topic, partition))) this.#onChange(this.#waiting.size);
  }

  /** Forgets the other partitions. */
  retain(isKept: (topic: string, partition: number) => boolean): void {
    for (const [key, { topic, partition }] of this.#waiting) if (!isKept(topic, partition)) this.#waiting.delete(key);
    this.#onChange(this.#waiting.size);
  }

  clear(): void {
    this.#waiting.clear();
    this.#onChange(0);
  }
}
