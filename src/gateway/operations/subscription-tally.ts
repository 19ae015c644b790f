/** Live subscriptions by field. It has an entry for each field of the schema, and for others that still have live ones. */
export class SubscriptionTally {
  readonly #counts = new Map<string, number>();

  /** @param fields all subscription fields of the schema */
  constructor(fields: Iterable<string>) {
    this.replace(fields);
  }

  /** The schema has these fields now. */
  replace(fields: Iterable<string>): void {
    const known = new Set(fields);
    for (const [field, count] of this.#counts) if (count === 0 && !known.has(field)) this.#counts.delete(field);
    for (const field of known) if (!this.#counts.has(field)) this.#counts.set(field, 0);
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  add(field: string): void {
    this.#counts.set(field, (this.#counts.get(field) ?? 0) + 1);
  }

  delete(field: string): void {
    this.#counts.set(field, this.#counts.get(field)! - 1);
  }
}
