import type { StateFills } from '../../bus/state-fill.ts';
import { FencedError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { partitionKey } from '../partition-key.ts';

/** The fill of an assigned partition that has not ended. */
export interface PendingFill {
  readonly topic: string;
  readonly partition: number;
  readonly signature: string;
  /** Offset after the last record that the fill must read. */
  readonly end: number;
  /** Next offset to read. */
  readonly next: number;
}

const RETRY_MS = 1000;

/** Follows the fills of the assigned partitions, and ends each that has read its last record. Holds one entry for each. */
export class StateFilling {
  readonly #fills: Pick<StateFills, 'end'>;
  readonly #log: Logger;
  readonly #onFenced: (error: Error) => void;
  readonly #pending = new Map<string, PendingFill>();
  readonly #timers = new Set<NodeJS.Timeout>();

  /** @param onFenced called if the bus does not know the lease of a fill that could end: the group must be joined again */
  constructor(fills: Pick<StateFills, 'end'>, log: Logger, onFenced: (error: Error) => void) {
    this.#fills = fills;
    this.#log = log;
    this.#onFenced = onFenced;
  }

  /** Fills that have not ended, with what they have still to read. */
  get pending(): readonly { readonly topic: string; readonly partition: number; readonly remaining: number }[] {
    return Array.from(this.#pending.values(), ({ topic, partition, end, next }) => {
      return { topic, partition, remaining: Math.max(0, end - next) };
    });
  }

  /** Forgets the fills of the other partitions. */
  retain(isKept: (topic: string, partition: number) => boolean): void {
    for (const [key, { topic, partition }] of this.#pending) if (!isKept(topic, partition)) this.#pending.delete(key);
  }

  /** The group has assigned the partitions of these fills. */
  assign(fills: readonly PendingFill[]): void {
    for (const fill of fills) {
      const { topic, partition, end, next } = fill;
      this.#pending.set(partitionKey(topic, partition), fill);
      this.#log.info({ topic, partition, records: end - next }, 'the states of a partition are filled');
      this.#endIfRead(fill);
    }
  }

  /** The bus has accepted every record before `next`. */
  advance(topic: string, partition: number, next: number): void {
    const key = partitionKey(topic, partition);
    const fill = this.#pending.get(key);
    if (!fill) return;
    const advanced = { ...fill, next };
    this.#pending.set(key, advanced);
    this.#endIfRead(advanced);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#pending.clear();
  }

  #endIfRead(fill: PendingFill): void {
    if (fill.next >= fill.end) void this.#end(fill);
  }

  /** Never rejects. Repeated until the bus answers: nothing else would end the fill if no record follows. */
  async #end(fill: PendingFill): Promise<void> {
    const { topic, partition, signature } = fill;
    const key = partitionKey(topic, partition);
    if (this.#pending.get(key) !== fill) return;
    try {
      await this.#fills.end(topic, partition, signature);
    } catch (error) {
      if (this.#pending.get(key) !== fill) return;
      if (error instanceof FencedError) return this.#onFenced(error);
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        void this.#end(fill);
      }, RETRY_MS);
      this.#timers.add(timer);
      return;
    }
    if (this.#pending.get(key)?.signature !== signature) return;
    this.#pending.delete(key);
    this.#log.info({ topic, partition }, 'the states of a partition are complete');
  }
}
