import { Watch } from '../support/stock-client.ts';
import type { Scope } from '../support/socket.ts';

export interface Row {
  readonly id: string;
  readonly customer: string | null;
  readonly status: string | null;
  readonly name: string | null;
  readonly amount: string | null;
  readonly updated: string | null;
}

/** Which rows a subscriber follows; every field that is left out: all. */
export interface Followed {
  readonly id?: string;
  readonly customer?: string;
  readonly status?: string;
}

const SELECTION = '{ id customer status name amount updated op }';
const OF_ROW = `subscription ($id: ID!) { row(id: $id) ${SELECTION} }`;
const OF_ROWS = `subscription ($customer: String, $status: String) { rows(customer: $customer, status: $status) ${SELECTION} }`;

/** A stock client that keeps a copy of the rows that it follows, from its events alone. */
export class RowCopy {
  readonly followed: Followed;
  readonly #watch: Watch;
  readonly #rows = new Map<string, Row>();
  #read = 0;
  /** Events of rows that it does not follow, or of which nobody knows the row. */
  readonly foreign: string[] = [];

  constructor(scope: Scope, url: string, followed: Followed) {
    this.followed = followed;
    const query = followed.id === undefined ? OF_ROWS : OF_ROW;
    this.#watch = new Watch(url, query, { ...followed });
    scope.after(() => this.#watch.close());
  }

  get events(): number {
    return this.#watch.events.length;
  }

  /** Its rows, by their ids. */
  rows(): ReadonlyMap<string, Row> {
    if (this.#watch.failures.length > 0) throw new Error(this.#watch.failures[0]);
    for (const event of this.#watch.events.slice(this.#read)) this.#apply(event);
    this.#read = this.#watch.events.length;
    return this.#rows;
  }

  /** How its rows differ from those of the table that it follows; '': not at all. */
  difference(table: readonly Row[]): string {
    const rows = this.rows();
    const wanted = new Map(table.filter((row) => this.#follows(row)).map((row) => [row.id, row]));
    const differing = [...new Set([...wanted.keys(), ...rows.keys()])].filter(
      (id) => JSON.stringify(rows.get(id)) !== JSON.stringify(wanted.get(id)),
    );
    if (differing.length === 0) return '';
    const [id] = differing as [string];
    const [has, should] = [rows.get(id), wanted.get(id)].map((row) => JSON.stringify(row) ?? 'nothing');
    return `${JSON.stringify(this.followed)}: ${differing.length} rows; of ${id} it has ${has} instead of ${should}`;
  }

  #apply(event: Readonly<Record<string, unknown>>): void {
    if (this.followed.id !== undefined && event['row'] === null) {
      this.#rows.clear();
      return;
    }
    const changed = (event['row'] ?? event['rows']) as (Row & { readonly op: string }) | null;
    if (!changed) {
      this.foreign.push(JSON.stringify(event));
      return;
    }
    const { op, ...row } = changed;
    if (op === 'DELETE') {
      this.#rows.delete(row.id);
      return;
    }
    if (!this.#follows(row)) this.foreign.push(JSON.stringify(event));
    this.#rows.set(row.id, row);
  }

  #follows(row: Row): boolean {
    const { id = row.id, customer = row.customer, status = row.status } = this.followed;
    return id === row.id && customer === row.customer && status === row.status;
  }
}
