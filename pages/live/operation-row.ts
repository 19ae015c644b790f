import { element } from '../element.ts';
import { COLUMNS } from './operation-columns.ts';
import { detailsOf } from './operation-details.ts';
import type { OperationDetails, OperationStats } from './stats.ts';

export type LookUp = (operation: Pick<OperationStats, 'document' | 'operation'>) => Promise<OperationDetails | null>;

let rows = 0;

/** An operation of the table, of two rows: its button opens the second one, whose content is looked up then. */
export class OperationRow {
  readonly root = element('tbody');
  readonly #operation: OperationStats;
  readonly #lookUp: LookUp;
  readonly #button = element('button');
  readonly #cells = COLUMNS.map(({ name }) => element('td', name));
  readonly #details = element('tr', 'details');
  readonly #content = element('td');

  constructor(operation: OperationStats, lookUp: LookUp) {
    this.#operation = operation;
    this.#lookUp = lookUp;
    const { field, document, operation: name } = operation;
    const header = element('th');
    header.scope = 'row';
    this.#details.id = `operation-${++rows}`;
    this.#details.hidden = true;
    this.#content.colSpan = COLUMNS.length + 1;
    this.#content.setAttribute('aria-live', 'polite');
    this.#details.append(this.#content);
    this.#button.type = 'button';
    this.#button.ariaExpanded = 'false';
    this.#button.setAttribute('aria-controls', this.#details.id);
    this.#button.append(
      element('span', 'name', name || field || 'without a name'),
      ' ',
      element('span', 'field', name ? field : ''),
      ' ',
      element('code', '', document),
    );
    this.#button.addEventListener('click', () => void this.#toggle());
    header.append(this.#button);
    const row = element('tr');
    row.append(header, ...this.#cells);
    this.root.append(row, this.#details);
  }

  /** True while somebody reads its details, or has the focus in it. */
  get isInUse(): boolean {
    return this.#isOpen || this.root.contains(document.activeElement);
  }

  /** @param operation undefined: the pod names it no longer */
  draw(operation: OperationStats | undefined): void {
    COLUMNS.forEach(({ name, format }, i) => (this.#cells[i]!.textContent = format(operation?.[name] ?? null)));
  }

  get #isOpen(): boolean {
    return !this.#details.hidden;
  }

  async #toggle(): Promise<void> {
    this.#details.hidden = this.#isOpen;
    this.#button.ariaExpanded = String(this.#isOpen);
    if (!this.#isOpen) return;
    this.#content.replaceChildren(element('p', 'empty', 'looking it up…'));
    try {
      this.#content.replaceChildren(...detailsOf(await this.#lookUp(this.#operation)));
    } catch (error) {
      this.#content.replaceChildren(element('p', 'empty', `It could not be looked up: ${(error as Error).message}`));
    }
  }
}
