/** Live subscriptions by field. It has an entry for each field of the schema, and no other. */
export class SubscriptionTally {
  readonly #counts: Map<string, number>;

  /** @param fields all subscription fields of the schema */
  constructor(fields: Iterable<string>) {
    this.#counts = new Map(Array.from(fields, (field) => [field, 0]));
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(field: string): void {
    this.#counts.set(field, this.#counts.get(field)! + 1);
  }

  delete(field: string): void {
    this.#counts.set(field, this.#counts.get(field)! - 1);
  }
}
