import { BACKSLASH, CLOSING, COLON, COMMA, QUOTE } from '../../json/characters.ts';
import { MAX_NAME_BYTES, ObjectKeys } from '../../json/object-keys.ts';
import type { Key } from '../../json/object-keys.ts';
import { MAX_LEVELS } from '../../json/scanner.ts';
import type { JsonScanner } from '../../json/scanner.ts';
import type { Desk, Printer } from './render-context.ts';

const UNWANTED = Symbol('unwanted');

interface Wanted {
  readonly printer: Printer;
  readonly offset: number;
  /** Where one key is selected several times. */
  readonly other: Wanted | undefined;
}

/** Keys that nobody wants, but that may be remembered, so that they are passed over fast: about 300 bytes each. */
export interface UnwantedKeys {
  left: number;
}

/** What is wanted of the objects at one place. */
export class Members {
  /** Of all that is wanted. */
  size = 0;
  readonly #wanted = new Map<string, Wanted>();
  readonly #unwanted: UnwantedKeys;
  readonly #keys = new ObjectKeys<Wanted | typeof UNWANTED>((name) => {
    const wanted = this.#wanted.get(name);
    if (wanted) return wanted;
    return this.#unwanted.left-- > 0 ? UNWANTED : undefined;
  });

  /** `unwanted`: shared by all of an operation. */
  constructor(unwanted: UnwantedKeys) {
    this.#unwanted = unwanted;
  }

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

/** Of a key that is not known. One that is long, has escapes, or is not followed by its colon at once, may be wanted all the same. */
function skipMember(scanner: JsonScanner, at: number): number {
  const { view, bytes } = scanner;
  if (view.getUint8(at) !== QUOTE) return -1;
  const end = scanner.endOfString(at);
  if (end < 0 || end - at > MAX_NAME_BYTES || view.getUint8(end) !== COLON) return -1;
  for (let i = at; i < end; i++) if (bytes[i] === BACKSLASH) return -1;
  return scanner.endOfValue(scanner.token(end + 1), MAX_LEVELS);
}
