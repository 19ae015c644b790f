import type { InflightBudget } from '../client/fetching/inflight-budget.ts';

/**
 * Lets kafkajs continue without a batch. kafkajs fetches from a broker only after all batches of its last response have ended, and runs
 * few batches at a time. So a batch that waits for gateways is detached: it continues on its own, and its partition is not fetched
 * until it has ended.
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

  /** Detaches the batch. False: the budget has no room to keep its records, so the batch must end. Idempotent. */
  detach(): boolean {
    if (this.#state === 'attached') {
      this.#state = this.#budget.hold(this.#partition) ? 'kept' : 'dropped';
      this.#resolve();
    }
    return this.#state === 'kept';
  }
}
