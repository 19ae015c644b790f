import { element } from '../element.ts';
import { COLUMNS } from './operation-columns.ts';
import type { ColumnName } from './operation-columns.ts';
import { OperationRow } from './operation-row.ts';
import type { LookUp } from './operation-row.ts';
import type { OperationStats } from './stats.ts';

const ROWS = 10;

/** The operations that lead in the column that is chosen, and those that somebody has opened. */
export class OperationsTable {
  readonly root = element('section', 'operations');
  readonly #lookUp: LookUp;
  readonly #table = element('table');
  readonly #head = element('thead');
  readonly #buttons = new Map<ColumnName, HTMLButtonElement>();
  readonly #empty = element('p', 'empty', 'No operation is live.');
  readonly #rows = new Map<string, OperationRow>();
  #by: ColumnName = 'deliveries_per_second';
  #operations: readonly OperationStats[] = [];

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp;
    const row = element('tr');
    row.append(element('th', '', 'Top operations'));
    for (const { name, title } of COLUMNS) {
      const button = element('button', '', title);
      button.type = 'button';
      button.addEventListener('click', () => {
        this.#by = name;
        this.draw(this.#operations);
      });
      this.#buttons.set(name, button);
      const header = element('th', name);
      header.append(button);
      row.append(header);
    }
    this.#head.append(row);
    this.#table.append(this.#head);
    this.root.append(this.#table, this.#empty);
  }

  draw(operations: readonly OperationStats[]): void {
    this.#operations = operations;
    const by = this.#by;
    for (const [column, button] of this.#buttons)
      button.parentElement!.ariaSort = column === by ? 'descending' : 'none';
    const sorted = operations.toSorted((a, b) => (b[by] ?? 0) - (a[by] ?? 0) || b.subscriptions - a.subscriptions);
    const shown = new Set<OperationRow>();
    for (const [i, operation] of sorted.entries()) {
      const key = `${operation.document} ${operation.operation}`;
      let row = this.#rows.get(key);
      if (i >= ROWS && !row?.isInUse) continue;
      if (!row) this.#rows.set(key, (row = new OperationRow(operation, this.#lookUp)));
      row.draw(operation);
      shown.add(row);
    }
    for (const [key, row] of this.#rows) {
      if (shown.has(row)) continue;
      row.draw(undefined);
      if (row.isInUse) shown.add(row);
      else this.#rows.delete(key);
    }
    this.#place(Array.from(shown, ({ root }) => root));
    this.#empty.hidden = shown.size > 0;
  }

  /** Moves the others around the row that somebody uses: what is moved loses the focus and its selected text. */
  #place(rows: readonly HTMLTableSectionElement[]): void {
    const present = [...this.#table.tBodies];
    for (const row of present) if (!rows.includes(row)) row.remove();
    const used = rows.find(isUsed);
    if (used) {
      const at = rows.indexOf(used);
      used.before(...rows.slice(0, at));
      used.after(...rows.slice(at + 1));
    } else if (rows.some((row, i) => row !== present[i])) this.#head.after(...rows);
  }
}

/** True if the focus is there, or the beginning of a selection. */
function isUsed(row: HTMLElement): boolean {
  return row.contains(document.activeElement) || row.contains(document.getSelection()?.anchorNode ?? null);
}
