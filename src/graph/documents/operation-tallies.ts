import type { OperationTally } from './operation-tally.ts';

/** Operations that are listed. 2,000 tallies take less than a megabyte. */
const MAX_TALLIES = 2000;
/** Tallies that are looked at to make room for one. */
const MAX_SEARCHED = 20;

/** The tallies of the operations that clients requested last. Live ones stay, unless all of the oldest are live. */
export class OperationTallies {
  /** By the name of the root field; '' for several. The tally requested last is the last one. */
  readonly #fields = new Map<OperationTally, string>();
  readonly #maxTallies: number;

  constructor(maxTallies = MAX_TALLIES) {
    this.#maxTallies = maxTallies;
  }

  get entries(): Iterable<readonly [tally: OperationTally, field: string]> {
    return this.#fields;
  }

  /** A client has requested the operation. @param fieldOf called if it is not listed */
  note(tally: OperationTally, fieldOf: () => string): void {
    const field = this.#fields.get(tally);
    this.#fields.delete(tally);
    if (field === undefined && this.#fields.size >= this.#maxTallies) this.#makeRoom();
    this.#fields.set(tally, field ?? fieldOf());
  }

  /** Deletes the oldest tally without subscriptions; without one among the oldest, the very oldest. */
  #makeRoom(): void {
    let searched = 0;
    for (const tally of this.#fields.keys()) {
      if (tally.subscriptions === 0) return void this.#fields.delete(tally);
      if (++searched === MAX_SEARCHED) break;
    }
    const [oldest] = this.#fields.keys();
    if (oldest) this.#fields.delete(oldest);
  }
}
