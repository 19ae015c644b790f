import type { InflightBudget } from './inflight-budget.ts';

/**
 * Whether kafkajs waits for a batch. It fetches nothing from a broker until all batches of the last response have ended, and runs a
 * few at a time: so a batch that waits for gateways is detached. It goes on by itself, and its partition is not fetched until it ends.
 */
export class Detachment {
  /** Resolves when the batch is detached. */
  readonly happened: Promise<void>;
  readonly #resolve: () => void;
  readonly #budget: Pick<InflightBudget, 'hold'>;
  readonly #partition: string;
  #state: 'attached' | 'kept' | 'dropped' = 'attached';

  /** `partition`: the budget's key of the batch's partition. */
  constructor(budget: Pick<InflightBudget, 'hold'>, partition: string) {
    let resolve!: () => void;
    this.happened = new Promise((done) => (resolve = done));
    this.#resolve = resolve;
    this.#budget = budget;
    this.#partition = partition;
  }

  get isDetached(): boolean {
    return this.#state !== 'attached';
  }

  /** Whether the batch had to give up its records: they are fetched again when the partition is released. */
  get isDropped(): boolean {
    return this.#state === 'dropped';
  }

  /** Whether the batch may go on with the records that it has. */
  detach(): boolean {
    if (this.#state === 'attached') {
      this.#state = this.#budget.hold(this.#partition) ? 'kept' : 'dropped';
      this.#resolve();
    }
    return this.#state === 'kept';
  }
}
