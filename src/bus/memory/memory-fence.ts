import { FencedError } from '../../base/errors.ts';
import type { Message } from '../bus-message.ts';
import type { PartitionLease, Position } from '../publisher.ts';
import type { Coordinates } from '../coordinates.ts';

/** The leases of the memory bus; `redis/lua` keeps the same in Redis. Holds one entry for each leased partition. */
export class MemoryFence {
  readonly #epochs = new Map<string, number>();
  readonly #positions = new Map<string, number>();
  /** Last start id, by partition. */
  readonly #startIds = new Map<string, string>();

  acquire({ topic, partition, position, startId }: PartitionLease): void {
    const key = `${topic}/${partition}`;
    const before = this.#positions.get(key) ?? -1;
    const epoch = this.#epochs.get(topic);
    const isFresh = startId !== undefined && startId !== this.#startIds.get(key);
    if (epoch === undefined || (isFresh && before >= 0)) {
      this.#epochs.set(topic, Math.max(Date.now(), (epoch ?? 0) + 1));
    }
    this.#positions.set(key, isFresh ? position : Math.max(before, position));
    if (startId !== undefined) this.#startIds.set(key, startId);
  }

  /** The topic's epoch; 0: no partition of the topic was leased. */
  epochOf(topic: string): number {
    return this.#epochs.get(topic) ?? 0;
  }

  /** Moves the position up to the given one. Returns the messages that were not accepted before, with their coordinates. */
  accept(messages: readonly Message[], { topic, partition, offset: upTo }: Position): [Message, Coordinates][] {
    const epoch = this.#epochs.get(topic);
    const position = this.#positions.get(`${topic}/${partition}`);
    if (epoch === undefined || position === undefined) throw new FencedError(`${topic}/${partition} was not leased`);
    this.#positions.set(`${topic}/${partition}`, Math.max(position, upTo));
    const accepted: [Message, Coordinates][] = [];
    for (const message of messages) {
      const { offset, timestamp } = message;
      if (offset > position) accepted.push([message, { partition, offset, timestamp, epoch }]);
    }
    return accepted;
  }
}
