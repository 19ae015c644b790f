import type { InflightBudget } from '../fetching/inflight-budget.ts';

/**
 * Whether kafkajs waits for a batch. kafkajs fetches nothing from a broker until all batches of the last response have ended, and runs
 * a few batches at a time. A batch that waits for gateways is therefore detached: it continues on its own, and its partition is not
 * fetched until it has ended.
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

  /** True if the batch had to drop its records: they are fetched again when the partition is released. */
  get isDropped(): boolean {
    return this.#state === 'dropped';
  }

  /** Detaches the batch. False: there is no memory to keep its records; the batch is to end. Idempotent. */
  detach(): boolean {
    if (this.#state === 'attached') {
      this.#state = this.#budget.hold(this.#partition) ? 'kept' : 'dropped';
      this.#resolve();
    }
    return this.#state === 'kept';
  }
}
