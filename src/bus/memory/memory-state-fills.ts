import type { StateFill, StateFills, TopicFills } from '../state-fill.ts';

/** The fills of the memory bus. It loses nothing, and every worker of its process keeps the same states. */
export class MemoryStateFills implements StateFills {
  readonly places: readonly string[] = [];
  readonly #epochOf: (topic: string) => number;
  /** By topic. */
  readonly #topics = new Map<string, { partitions: number; readonly fills: Map<number, StateFill> }>();

  constructor(epochOf: (topic: string) => number) {
    this.#epochOf = epochOf;
  }

  begin(topic: string, partition: number, fill: StateFill): void {
    this.#topicOf(topic).fills.set(partition, fill);
  }

  read(topic: string, partitions?: number): Promise<TopicFills> {
    const known = this.#topicOf(topic);
    if (partitions !== undefined) known.partitions = partitions;
    const epochs = new Set([this.#epochOf(topic)]);
    return Promise.resolve({ partitions: known.partitions, epochs, fills: new Map(known.fills) });
  }

  end(topic: string, partition: number, signature: string): Promise<void> {
    const { fills } = this.#topicOf(topic);
    if (fills.get(partition)?.signature === signature) fills.set(partition, { signature, end: undefined });
    return Promise.resolve();
  }

  #topicOf(topic: string) {
    let known = this.#topics.get(topic);
    if (!known) this.#topics.set(topic, (known = { partitions: 0, fills: new Map() }));
    return known;
  }
}
