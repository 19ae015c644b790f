import { Composer, snippet } from '../../base/json/composer.ts';
import { LETTER_N } from '../../base/json/characters.ts';
import { JsonScanner } from '../../base/json/scanner.ts';

/** Copies the values of one selected field from a payload's JSON text into a result's. It has two steps: `read`, then `print`. */
export interface Printer {
  /** Count of its value offsets. The first one is 0 where the value is absent or null. */
  readonly size: number;
  /**
   * Reads the value at byte offset `at` and stores its value offsets from `index` on. Returns the byte offset after the value, or -1:
   * the value does not fit its type, or is not written as JSON.stringify writes it. graphql-js must then execute the operation.
   */
  read(context: RenderContext, at: number, index: number): number;
  /** Appends the value's JSON text to the composer. Returns false where the type does not have the value, such as null if it is non-null. */
  print(context: RenderContext, index: number): boolean;
}

/** A field with a resolver: its value is missing in the rendered text. */
export interface ResolverSlot {
  /** Response keys that lead to the field. */
  readonly path: readonly string[];
  /** Byte offset in the composed text. */
  readonly at: number;
}

const COMPOSER_BYTES = 64 * 1024;
/** A larger array, grown for one payload, is replaced before the next. */
const MAX_KEPT_OFFSETS = 64 * 1024;

const NULL = snippet('null');

/** Scratch memory of all printers of a schema. It serves one payload at a time. */
export class RenderContext {
  readonly scanner = new JsonScanner();
  readonly composer = new Composer(COMPOSER_BYTES);
  /** Where `read` found the values, for `print`. Byte offsets in the payload and indexes in this array. */
  valueOffsets = new Int32Array(1024);
  readonly slots: ResolverSlot[] = [];
  /** Index 0 is never given away: 0 means absent. */
  #used = 1;

  clear(): void {
    this.composer.clear();
    this.slots.length = 0;
    this.#used = 1;
    if (this.valueOffsets.length > MAX_KEPT_OFFSETS) this.valueOffsets = new Int32Array(MAX_KEPT_OFFSETS);
  }

  /** Reserves value offsets, all 0, and returns the index of the first. */
  reserve(count: number): number {
    const start = this.#used;
    this.#used += count;
    if (this.#used > this.valueOffsets.length) {
      const grown = new Int32Array(this.#used * 2);
      grown.set(this.valueOffsets);
      this.valueOffsets = grown;
    }
    const { valueOffsets } = this;
    for (let index = start; index < this.#used; index++) valueOffsets[index] = 0;
    return start;
  }
}

/** The byte offset after a null; -1 for any other value. */
export function endOfNull({ scanner }: RenderContext, at: number): number {
  return scanner.view.getUint8(at) === LETTER_N ? scanner.endOfScalar(at) : -1;
}

/** Appends null. Returns false where the type is non-null. */
export function printNull({ composer }: RenderContext, isRequired: boolean): boolean {
  composer.snippet(NULL);
  return !isRequired;
}
