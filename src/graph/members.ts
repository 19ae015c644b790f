import { CLOSING, COLON, COMMA, QUOTE } from '../json/characters.ts';
import { ObjectKeys } from '../json/object-keys.ts';
import type { Key } from '../json/object-keys.ts';
import { MAX_LEVELS } from '../json/scanner.ts';
import type { JsonScanner } from '../json/scanner.ts';
import type { Desk, Printer } from './desk.ts';

/** Keys at one place that are not wanted, but known, so that they are passed over fast. */
const MAX_UNWANTED_KEYS = 256;

/** What is wanted of the objects at one place. */
export class Members {
  /** Of all that is wanted. */
  size = 0;
  readonly #wanted = new Map<string, Wanted[]>();
  #unwanted = 0;
  readonly #keys = new ObjectKeys<readonly Wanted[]>((name) => {
    const wanted = this.#wanted.get(name);
    if (wanted) return wanted;
    return this.#unwanted++ < MAX_UNWANTED_KEYS ? [] : undefined;
  });

  /** Returns where, in the notes of an object, those of the printer begin. */
  add(name: string, printer: Printer): number {
    const offset = this.size;
    this.size += printer.size;
    const wanted = this.#wanted.get(name);
    if (wanted) wanted.push({ printer, offset });
    else this.#wanted.set(name, [{ printer, offset }]);
    return offset;
  }

  /** Of an object. `notes`: of this one. */
  read(desk: Desk, at: number, notes: number): number {
    const { scanner } = desk;
    const { view } = scanner;
    let key: Key<readonly Wanted[]> | undefined;
    at = scanner.token(at + 1);
    if (view.getUint8(at) === CLOSING) return at + 1;
    for (;;) {
      const found = this.#keys.at(scanner, at, key);
      if (found) {
        key = found;
        at = this.#readWanted(desk, scanner.token(at + found.length), notes, found.meaning);
      } else at = skipMember(scanner, at);
      if (at < 0) return -1;
      at = scanner.token(at);
      const c = view.getUint8(at);
      if (c === CLOSING) return at + 1;
      if (c !== COMMA) return -1;
      at = scanner.token(at + 1);
    }
  }

  #readWanted(desk: Desk, at: number, notes: number, wanted: readonly Wanted[]): number {
    if (wanted.length === 0) return desk.scanner.endOfValue(at, MAX_LEVELS);
    let end = -1;
    for (let i = 0; i < wanted.length; i++) {
      const { printer, offset } = wanted[i]!;
      // Of a key that an object has twice the last one counts.
      if (desk.notes[notes + offset] !== 0) return -1;
      end = printer.read(desk, at, notes + offset);
      if (end < 0) return -1;
    }
    return end;
  }
}

interface Wanted {
  readonly printer: Printer;
  readonly offset: number;
}

/** Of a key that is not known. One that is not followed by its colon at once may be wanted all the same. */
function skipMember(scanner: JsonScanner, at: number): number {
  if (scanner.view.getUint8(at) !== QUOTE) return -1;
  at = scanner.endOfString(at);
  if (at < 0 || scanner.view.getUint8(at) !== COLON) return -1;
  return scanner.endOfValue(scanner.token(at + 1), MAX_LEVELS);
}
