import { EventEmitter, once } from 'node:events';

/** Memory of a record's object beside its bytes. Measured: 355 bytes for records without a key. */
export const RECORD_OVERHEAD_BYTES = 400;

/** Bytes that were decoded for one fetch of a broker, by partition. */
type Reserved = Map<string, number>;

/** Largest share of the budget for records of held partitions. The other partitions have the remaining share. */
const MAX_HELD_SHARE = 0.5;

/**
 * Bounds the memory of all records that are decoded and not yet processed. Responses are decoded one after another, so that small
 * batches cannot starve a large one. Holds one number for each partition.
 */
export class InflightBudget {
  readonly #maxBytes: number;
  readonly #byNode = new Map<string, Reserved>();
  /** Bytes of the records of held partitions. */
  readonly #held = new Map<string, number>();
  readonly #events = new EventEmitter();
  #releases = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#events.setMaxListeners(0);
  }

  /** Free bytes; negative if a batch exceeded the budget in order to make progress. */
  get room(): number {
    return this.#maxBytes - this.#reserved();
  }

  /** Number of releases so far, for `released`. */
  get releases(): number {
    return this.#releases;
  }

  /** True if only held partitions have records in flight. Then the next part is decoded even if it exceeds the budget. */
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

  /** Whether records from this broker are in flight. */
  has(node: string): boolean {
    return (this.#byNode.get(node)?.size ?? 0) > 0;
  }

  /** Runs the tasks one after another, in the order of the calls. */
  runInOrder<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(task);
    const ignore = () => undefined;
    // Not `catch`: that would keep the result, a whole response, until the next one.
    this.#turn = turn.then(ignore, ignore);
    return turn;
  }

  reserve(node: string, partition: string, bytes: number): void {
    const reserved = this.#byNode.get(node) ?? new Map<string, number>();
    this.#byNode.set(node, reserved);
    reserved.set(partition, (reserved.get(partition) ?? 0) + bytes);
  }

  /**
   * Stops the fetching of a partition, and keeps its records counted, until the partition is released. False: the records of held
   * partitions would take more than half of the budget; then those of this partition are no longer counted, and must be dropped.
   */
  hold(partition: string): boolean {
    let bytes = 0;
    for (const reserved of this.#byNode.values()) {
      bytes += reserved.get(partition) ?? 0;
      reserved.delete(partition);
    }
    const isKept = sum(this.#held.values()) + bytes <= this.#maxBytes * MAX_HELD_SHARE;
    this.#held.set(partition, isKept ? bytes : 0);
    this.#release();
    return isKept;
  }

  /** Call when the records of a partition are processed. */
  releasePartition(partition: string): void {
    for (const reserved of this.#byNode.values()) reserved.delete(partition);
    this.#held.delete(partition);
    this.#release();
  }

  /** Call when the records of a broker's last fetch are processed or dropped. */
  releaseNode(node: string): void {
    // Only if bytes were reserved: two brokers that wait for a release would otherwise wake each other for ever.
    if (this.#byNode.delete(node)) this.#release();
  }

  /**
   * Resolves with true at the next release, with false after the timeout.
   * @param since value of `releases` when the caller saw that there is no room: a release after it counts, too. Default: now
   */
  async released(timeoutMs: number, since = this.#releases): Promise<boolean> {
    if (timeoutMs <= 0) return false;
    if (this.#releases !== since) return true;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    return once(this.#events, 'release', { signal }).then(
      () => true,
      () => false,
    );
  }

  #release(): void {
    this.#releases++;
    this.#events.emit('release');
  }

  #reserved(): number {
    return this.#fetched() + sum(this.#held.values());
  }

  #fetched(): number {
    let bytes = 0;
    for (const reserved of this.#byNode.values()) bytes += sum(reserved.values());
    return bytes;
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
