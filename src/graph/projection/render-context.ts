import { Composer, snippet } from '../../json/composer.ts';
import { LETTER_N } from '../../json/characters.ts';
import { JsonScanner } from '../../json/scanner.ts';

/**
 * Prints values of one type, at one place of a selection, out of a payload's text. `read` goes from the offset of a value to that behind
 * it and notes where there is what `print` needs. -1: the value is not as its type wants it, or not printed in the way in which
 * JSON.stringify does; what that means is for graphql-js to say.
 */
export interface Printer {
  /** Notes that it takes in those of its object. The first one is 0 where there is no value, or null. */
  readonly size: number;
  read(desk: Desk, at: number, note: number): number;
  /** False: a null where none may be. */
  print(desk: Desk, note: number): boolean;
}

const COMPOSER_BYTES = 64 * 1024;
const MAX_KEPT_NOTES = 64 * 1024;

const NULL = snippet('null');

/** What every printer works with, and for one text at a time. */
export class Desk {
  readonly scanner = new JsonScanner();
  readonly composer = new Composer(COMPOSER_BYTES);
  /** Of all values that have been read. */
  notes = new Int32Array(1024);
  #used = 1;
  /** Where each hole is in the composed text. */
  readonly holes: { readonly path: readonly string[]; readonly at: number }[] = [];

  clear(): void {
    this.composer.clear();
    this.holes.length = 0;
    this.#used = 1;
    if (this.notes.length > MAX_KEPT_NOTES) this.notes = new Int32Array(MAX_KEPT_NOTES);
  }

  /** Room for notes, all 0. */
  room(size: number): number {
    const start = this.#used;
    this.#used += size;
    if (this.#used > this.notes.length) {
      const notes = new Int32Array(this.#used * 2);
      notes.set(this.notes);
      this.notes = notes;
    }
    const { notes } = this;
    for (let note = start; note < this.#used; note++) notes[note] = 0;
    return start;
  }
}

/** What `read` gives for what is no value: null, or what is refused. */
export function endOfNull({ scanner }: Desk, at: number): number {
  return scanner.view.getUint8(at) === LETTER_N ? scanner.endOfScalar(at) : -1;
}

export function printNull({ composer }: Desk, isRequired: boolean): boolean {
  composer.snippet(NULL);
  return !isRequired;
}
