import { CLOSING, COMMA } from '../../base/json/characters.ts';
import { ObjectKeys, endOfUnknownMember } from '../../base/json/object-keys.ts';
import type { Key } from '../../base/json/object-keys.ts';
import { MAX_LEVELS } from '../../base/json/scanner.ts';
import type { Printer, RenderContext } from './render-context.ts';

const UNSELECTED = Symbol('unselected');

/** A member that an operation selects. */
interface SelectedMember {
  readonly printer: Printer;
  /** Of its value offsets, from the first of the object's members. */
  readonly offset: number;
  /** The next selection of the same key. */
  readonly other: SelectedMember | undefined;
}

/** How many unselected keys an operation may still remember, to skip their members fast. A remembered key takes about 300 bytes. */
export interface UnselectedKeyBudget {
  left: number;
}

/** Reads the selected members of the objects at one position of the payload. */
export class Members {
  /** Count of the value offsets of all selected members. */
  size = 0;
  readonly #selected = new Map<string, SelectedMember>();
  readonly #budget: UnselectedKeyBudget;
  readonly #keys = new ObjectKeys<SelectedMember | typeof UNSELECTED>((name) => {
    const selected = this.#selected.get(name);
    if (selected) return selected;
    return this.#budget.left-- > 0 ? UNSELECTED : undefined;
  });

  /** @param budget shared by all printers of an operation */
  constructor(budget: UnselectedKeyBudget) {
    this.#budget = budget;
  }

  /** Selects a member. Returns the offset of the printer's value offsets from the first of the object's members. */
  add(name: string, printer: Printer): number {
    const offset = this.size;
    this.size += printer.size;
    this.#selected.set(name, { printer, offset, other: this.#selected.get(name) });
    return offset;
  }

  /** Reads an object whose value offsets begin at `index`. Returns the byte offset after it, or -1. */
  read(context: RenderContext, at: number, index: number): number {
    const { scanner } = context;
    const { view } = scanner;
    let key: Key<SelectedMember | typeof UNSELECTED> | undefined;
    at = scanner.token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    for (;;) {
      const found = this.#keys.at(scanner, at, key);
      if (found) {
        key = found;
        const value = scanner.token(at + found.length);
        const { meaning } = found;
        at =
          meaning === UNSELECTED ? scanner.endOfValue(value, MAX_LEVELS) : readSelected(context, value, index, meaning);
      } else at = endOfUnknownMember(scanner, at);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }
}

function readSelected(context: RenderContext, at: number, index: number, selected: SelectedMember): number {
  const { printer, offset, other } = selected;
  // JSON.parse keeps the last of equal keys, so an object that repeats a selected key is refused.
  if (context.valueOffsets[index + offset] !== 0) return -1;
  const end = printer.read(context, at, index + offset);
  return other && end >= 0 ? readSelected(context, at, index, other) : end;
}
