/**
 * The time for which this member owns a partition: from the join that assigns it to the join that does not. A join that leaves it with this
 * member does not end it, unless another member may have owned it in between. A batch that was fetched in an earlier ownership may belong to
 * another member by now.
 */
export class Ownership {
  /** Settles when the partition's start position is known, or the bus did not answer; `isPositioned` tells whether it is. */
  positioning: Promise<void> = Promise.resolve();
  isPositioned = false;
  /** True if no leader could tell the start position. The partition stays paused until the group is joined again. */
  isUnknown = false;

  readonly #end = new AbortController();
  readonly #waitsEnd = new AbortController();

  get hasEnded(): boolean {
    return this.#end.signal.aborted;
  }

  /** True if another join needs no new start position. */
  get canContinue(): boolean {
    return this.isPositioned && !this.#waitsEnd.signal.aborted;
  }

  /** Aborted at the end of the ownership: its dead letters are no longer waited for. */
  get endSignal(): AbortSignal {
    return this.#end.signal;
  }

  /** Aborted when waits for gateways must end: when the membership is in doubt, at the end of the ownership, and when the session closes. */
  get flowSignal(): AbortSignal {
    return this.#waitsEnd.signal;
  }

  endFlowWaits(): void {
    this.#waitsEnd.abort();
  }

  /** Idempotent. */
  end(): void {
    this.#end.abort();
    this.#waitsEnd.abort();
  }
}
