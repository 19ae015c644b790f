import { exactNumber } from '../../base/json/exact-numbers.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';

/** `long`: a whole number that Int cannot hold; `big`: one beyond 2^53, or the text of one, which a record's number may have become. */
export type Kind = 'object' | 'list' | 'string' | 'int' | 'long' | 'big' | 'float' | 'boolean';

/** More keys at one place are data, as those of a map are. */
const MAX_KEYS = 100;
/** Levels of objects and lists that have types. */
const MAX_LEVELS = 8;
/** Places of all levels together. */
const MAX_PLACES = 2000;
const MAX_EXAMPLES = 200;
const MAX_NAME_LENGTH = 100;
const MAX_INT = 2 ** 31;
/** JavaScript prints larger numbers with an exponent, as those of a double are. */
const MAX_WHOLE = 1e21;
const WHOLE = /^-?[1-9]\d*$/;
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** What records have at one place of their payloads. The items of a list are a place below it. */
export class Place {
  /** Of all values but null. */
  readonly kinds = new Set<Kind>();
  /** By key, the usable ones and the others. */
  readonly keys = new Map<string, Place>();
  items: Place | undefined;
  /** Values other than null. */
  values = 0;
  /** The first of them. */
  readonly examples: unknown[] = [];
  /** True: the keys of objects are data, or there are too many levels or places. */
  isUntyped = false;
  /** One of the texts, if all of them are ISO 8601 times. */
  time: string | undefined;
  readonly #levels: number;
  readonly #budget: { places: number };

  constructor(levels = MAX_LEVELS, budget = { places: MAX_PLACES }) {
    this.#levels = levels;
    this.#budget = budget;
  }

  add(value: unknown): void {
    if (value === null || value === undefined) return;
    this.values++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push(value);
    this.kinds.add(kindOf(value));
    if (typeof value === 'string') this.time = this.#timeWith(value);
    else if (Array.isArray(value)) this.#addItems(value);
    else if (typeof value === 'object') this.#addKeys(value as Readonly<Record<string, unknown>>);
  }

  /** True if each value is an object whose keys are names. */
  get isObject(): boolean {
    return this.kinds.size === 1 && this.kinds.has('object') && !this.isUntyped && this.usableKeys.length > 0;
  }

  /** Keys that can be fields. */
  get usableKeys(): readonly (readonly [string, Place])[] {
    return [...this.keys].filter(([key]) => isUsable(key));
  }

  get unusableKeys(): readonly string[] {
    return [...this.keys.keys()].filter((key) => !isUsable(key));
  }

  #addItems(items: readonly unknown[]): void {
    this.items ??= this.#below();
    if (this.items) for (const item of items) this.items.add(item);
  }

  #addKeys(object: Readonly<Record<string, unknown>>): void {
    for (const key in object) {
      if (this.isUntyped) return;
      let place = this.keys.get(key);
      if (!place) {
        place = this.keys.size < MAX_KEYS ? this.#below() : undefined;
        if (!place) this.isUntyped = true;
        else this.keys.set(key, place);
      }
      place?.add(object[key]);
    }
  }

  #below(): Place | undefined {
    if (this.#levels === 0 || this.#budget.places === 0) return undefined;
    this.#budget.places--;
    return new Place(this.#levels - 1, this.#budget);
  }

  #timeWith(text: string): string | undefined {
    const isFirst = this.values === 1;
    return TIME.test(text) && (isFirst || this.time !== undefined) ? text : undefined;
  }
}

/** GraphQL can have the name, and crier's conversion does not change it. */
export function isUsable(key: string): boolean {
  const isName = /^[_a-z][_a-z0-9]*$/i.test(key) && !key.startsWith('__') && key.length <= MAX_NAME_LENGTH;
  return isName && snakeCaseName(key) === key;
}

function kindOf(value: NonNullable<unknown>): Kind {
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Math.abs(value) >= MAX_WHOLE) return 'float';
    if (!Number.isSafeInteger(value)) return 'big';
    return value >= -MAX_INT && value < MAX_INT ? 'int' : 'long';
  }
  if (typeof value === 'string' && WHOLE.test(value) && exactNumber(value) === value) return 'big';
  return typeof value as 'object' | 'string' | 'boolean';
}
