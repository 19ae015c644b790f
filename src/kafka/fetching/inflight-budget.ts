import { EventEmitter, once } from 'node:events';

/** What an object for a record takes beside its bytes, in bytes: 355 were measured of records without a key. */
export const RECORD_OVERHEAD_BYTES = 400;

/** Bytes that were decoded for one fetch of a broker, by partition. */
type Taken = Map<string, number>;

/** Share of the budget that the records of held partitions may take: the rest is for the other partitions. */
const MAX_HELD_SHARE = 0.5;

/**
 * One bound for all records that are decoded and not processed yet. Decoding is done in turns, so that a large batch finds room
 * when those before it are done, however many small ones there are. Holds one number for each partition.
 */
export class InflightBudget {
  readonly #maxBytes: number;
  readonly #byNode = new Map<string, Taken>();
  /** Bytes of the records of held partitions. */
  readonly #held = new Map<string, number>();
  readonly #events = new EventEmitter();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#events.setMaxListeners(0);
  }

  /** Bytes that are free now; negative where the minimum progress of a part took more than there was. */
  get room(): number {
    return this.#maxBytes - this.#taken();
  }

  /** True if nothing is in flight but records of held partitions: then the next part is decoded even where it exceeds the bound. */
  get isIdle(): boolean {
    return this.#fetched() === 0;
  }

  /** Whether any partition is held. */
  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  isHeld(partition: string): boolean {
    return this.#held.has(partition);
  }

  /** Whether anything is in flight that was fetched from this broker. */
  has(node: string): boolean {
    return (this.#byNode.get(node)?.size ?? 0) > 0;
  }

  /** Runs the tasks one after another, in the order of the calls. */
  inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(task);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  take(node: string, partition: string, bytes: number): void {
    const taken = this.#byNode.get(node) ?? new Map<string, number>();
    this.#byNode.set(node, taken);
    taken.set(partition, (taken.get(partition) ?? 0) + bytes);
  }

  /**
   * Stops the fetching of a partition, and keeps its records counted, until the partition is released. False: the records of held
   * partitions would take more than half of the budget; then those of this partition are no longer counted, and must be dropped.
   */
  hold(partition: string): boolean {
    let bytes = 0;
    for (const taken of this.#byNode.values()) {
      bytes += taken.get(partition) ?? 0;
      taken.delete(partition);
    }
    const isKept = sum(this.#held.values()) + bytes <= this.#maxBytes * MAX_HELD_SHARE;
    this.#held.set(partition, isKept ? bytes : 0);
    this.#events.emit('release');
    return isKept;
  }

  /** The records of a partition are processed. */
  releasePartition(partition: string): void {
    for (const taken of this.#byNode.values()) taken.delete(partition);
    this.#held.delete(partition);
    this.#events.emit('release');
  }

  /** The records of a broker's last fetch are processed, or were dropped. */
  releaseNode(node: string): void {
    // Only where there was something: two brokers that wait for a release, and are asked again after each, would wake each other for ever.
    if (this.#byNode.delete(node)) this.#events.emit('release');
  }

  /** Resolves at the next release; false: there was none in time. */
  async released(timeoutMs: number): Promise<boolean> {
    if (timeoutMs <= 0) return false;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    return once(this.#events, 'release', { signal }).then(
      () => true,
      () => false,
    );
  }

  #taken(): number {
    return this.#fetched() + sum(this.#held.values());
  }

  #fetched(): number {
    let bytes = 0;
    for (const taken of this.#byNode.values()) bytes += sum(taken.values());
    return bytes;
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
