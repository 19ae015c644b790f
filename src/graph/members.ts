import { CLOSING, COLON, COMMA, QUOTE } from '../json/characters.ts';
import { ObjectKeys } from '../json/object-keys.ts';
import type { Key } from '../json/object-keys.ts';
import { MAX_LEVELS } from '../json/scanner.ts';
import type { JsonScanner } from '../json/scanner.ts';
import type { Desk, Printer } from './desk.ts';

/** Keys at one place that are not wanted, but known, so that they are passed over fast. */
const MAX_UNWANTED_KEYS = 256;

const UNWANTED = Symbol('unwanted');

interface Wanted {
  readonly printer: Printer;
  readonly offset: number;
  /** Where one key is selected several times. */
  readonly other: Wanted | undefined;
}

/** What is wanted of the objects at one place. */
export class Members {
  /** Of all that is wanted. */
  size = 0;
  readonly #wanted = new Map<string, Wanted>();
  #unwanted = 0;
  readonly #keys = new ObjectKeys<Wanted | typeof UNWANTED>((name) => {
    const wanted = this.#wanted.get(name);
    if (wanted) return wanted;
    return this.#unwanted++ < MAX_UNWANTED_KEYS ? UNWANTED : undefined;
  });

  /** Returns where, in the notes of an object, those of the printer begin. */
  add(name: string, printer: Printer): number {
    const offset = this.size;
    this.size += printer.size;
    this.#wanted.set(name, { printer, offset, other: this.#wanted.get(name) });
    return offset;
  }

  /** Of an object. `notes`: of this one. */
  read(desk: Desk, at: number, notes: number): number {
    const { scanner } = desk;
    const { view } = scanner;
    let key: Key<Wanted | typeof UNWANTED> | undefined;
    at = scanner.token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    for (;;) {
      const found = this.#keys.at(scanner, at, key);
      if (found) {
        key = found;
        const value = scanner.token(at + found.length);
        const { meaning } = found;
        at = meaning === UNWANTED ? scanner.endOfValue(value, MAX_LEVELS) : readWanted(desk, value, notes, meaning);
      } else at = skipMember(scanner, at);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }
}

function readWanted(desk: Desk, at: number, notes: number, wanted: Wanted): number {
  const { printer, offset, other } = wanted;
  // Of a key that an object has twice the last one counts.
  if (desk.notes[notes + offset] !== 0) return -1;
  const end = printer.read(desk, at, notes + offset);
  return other && end >= 0 ? readWanted(desk, at, notes, other) : end;
}

/** Of a key that is not known. One that is not followed by its colon at once may be wanted all the same. */
function skipMember(scanner: JsonScanner, at: number): number {
  if (scanner.view.getUint8(at) !== QUOTE) return -1;
  at = scanner.endOfString(at);
  if (at < 0 || scanner.view.getUint8(at) !== COLON) return -1;
  return scanner.endOfValue(scanner.token(at + 1), MAX_LEVELS);
}
