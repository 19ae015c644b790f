export const CUSTOMERS = ['c1', 'c2', 'c3', 'c4', 'c5'];
export const STATUSES = ['NEW', 'PAID', 'SHIPPED'];

/** Of 1,000 changes. The rest are updates of other columns. */
const OUT_OF_1000 = { delete: 120, key: 100, customer: 200, status: 200 };

/** Random changes of a table of `size` rows with ids from 1: each is one transaction. The same seed makes the same changes. */
export class RandomChanges {
  /** Ids of the rows that are there. */
  readonly #present = new Set<number>();
  readonly #size: number;
  #state: number;
  #count = 0;

  constructor(seed: number, size: number) {
    this.#state = seed;
    this.#size = size;
  }

  /** Inserts every row. */
  fill(): string[] {
    return Array.from({ length: this.#size }, (_, i) => this.#insert(i + 1));
  }

  /** One SQL statement. */
  next(): string {
    const id = 1 + this.#below(this.#size);
    if (!this.#present.has(id)) return this.#insert(id);
    const dice = this.#below(1000);
    let bound = 0;
    if (dice < (bound += OUT_OF_1000.delete)) {
      this.#present.delete(id);
      return `delete from rows where id = ${id};`;
    }
    if (dice < (bound += OUT_OF_1000.key)) {
      const free = 1 + this.#below(this.#size);
      if (this.#present.has(free)) return this.#update(id, `amount = ${this.#amount()}`);
      this.#present.delete(id);
      this.#present.add(free);
      return this.#update(id, `id = ${free}, customer = '${this.#one(CUSTOMERS)}'`);
    }
    if (dice < (bound += OUT_OF_1000.customer)) return this.#update(id, `customer = '${this.#one(CUSTOMERS)}'`);
    if (dice < (bound += OUT_OF_1000.status)) return this.#update(id, `status = '${this.#one(STATUSES)}'`);
    return this.#update(id, `amount = ${this.#amount()}`);
  }

  #insert(id: number): string {
    this.#present.add(id);
    const [customer, status] = [this.#one(CUSTOMERS), this.#one(STATUSES)];
    return `insert into rows values (${id}, '${customer}', '${status}', 'row ${this.#count++}', ${this.#amount()}, clock_timestamp());`;
  }

  #update(id: number, assignment: string): string {
    return `update rows set ${assignment}, name = 'row ${this.#count++}', updated = clock_timestamp() where id = ${id};`;
  }

  #amount(): string {
    return (this.#below(1_000_000) / 100).toFixed(2);
  }

  #one<T>(values: readonly T[]): T {
    return values[this.#below(values.length)]!;
  }

  /** Mulberry32. https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
  #below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }
}
