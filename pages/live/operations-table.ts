import { element } from '../element.ts';
import { count, milliseconds, perSecond } from './format.ts';
import type { OperationStats } from './stats.ts';

type Column = Exclude<keyof OperationStats, 'document' | 'operation' | 'field'>;

const COLUMNS: readonly (readonly [column: Column, title: string, format: (value: number | null) => string])[] = [
  ['deliveries_per_second', 'Deliveries', perSecond],
  ['executions_per_second', 'Executions', perSecond],
  ['execution_ms_per_second', 'Time in 1 s', milliseconds],
  ['errors_per_second', 'Errors', perSecond],
  ['subscriptions', 'Live', count],
];
const ROWS = 10;

/** The operations that lead in the column that is chosen. */
export class OperationsTable {
  readonly root = element('section', 'operations');
  readonly #body = element('tbody');
  readonly #buttons = new Map<Column, HTMLButtonElement>();
  readonly #empty = element('p', 'empty', 'No operation is live.');
  readonly #table = element('table');
  #by: Column = 'deliveries_per_second';
  #operations: readonly OperationStats[] = [];

  constructor() {
    const row = element('tr');
    row.append(element('th', '', 'Top operations'));
    for (const [column, title] of COLUMNS) {
      const button = element('button', '', title);
      button.type = 'button';
      button.addEventListener('click', () => {
        this.#by = column;
        this.draw(this.#operations);
      });
      this.#buttons.set(column, button);
      const header = element('th', column);
      header.append(button);
      row.append(header);
    }
    const head = element('thead');
    head.append(row);
    this.#table.append(head, this.#body);
    this.root.append(this.#table, this.#empty);
  }

  draw(operations: readonly OperationStats[]): void {
    this.#operations = operations;
    const by = this.#by;
    for (const [column, button] of this.#buttons)
      button.parentElement!.ariaSort = column === by ? 'descending' : 'none';
    const sorted = operations.toSorted((a, b) => (b[by] ?? 0) - (a[by] ?? 0) || b.subscriptions - a.subscriptions);
    this.#body.replaceChildren(...sorted.slice(0, ROWS).map(rowOf));
    this.#empty.hidden = operations.length > 0;
  }
}

function rowOf(operation: OperationStats): HTMLElement {
  const row = element('tr');
  const name = element('th');
  name.scope = 'row';
  const { field, document } = operation;
  name.append(
    element('span', 'name', operation.operation || field || 'without a name'),
    element('span', 'field', operation.operation ? field : ''),
    element('code', '', document),
  );
  row.append(name, ...COLUMNS.map(([column, , format]) => element('td', column, format(operation[column]))));
  return row;
}
