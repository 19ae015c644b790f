import lodash from 'lodash';

/** Levels of objects and arrays, an object of scalars being one; no less than MAX_RECORD_DEPTH allows. */
const MAX_DEPTH = 1000;
const MAX_MEMO_NAMES = 10_000;
const MAX_MEMO_KEY_LENGTH = 64;

/**
 * Renames the keys of JSON values to snake_case, all the way down. Of scalars only numbers are touched that are beyond a double
 * (`1e400`), which JSON cannot write: they become null and are counted.
 *
 * A key becomes what lodash's `snakeCase` makes of it, except that:
 * - a key that begins with two underscores stays as it is: GraphQL reserves those names (`__typename`);
 * - a key of which lodash leaves nothing (`$`) stays as it is;
 * - a key `__proto__` is dropped and counted. No other key can become that one;
 * - of keys of one object that become the same name the first one wins, and the others are dropped and counted.
 *
 * Every object is renamed, so keys that are data (a map by e-mail address) are renamed, too.
 */
export class SnakeCase {
  readonly #names = new NameMemo();
  #collisions = 0;
  #droppedProtos = 0;
  #overflows = 0;

  /** Properties dropped so far because an earlier key of the same object had the same name. */
  get collisions(): number {
    return this.#collisions;
  }

  /** Properties dropped so far because their key was `__proto__`. */
  get droppedProtos(): number {
    return this.#droppedProtos;
  }

  /** Numbers made null so far because they are beyond a double. */
  get overflows(): number {
    return this.#overflows;
  }

  /** Names that are remembered now; never more than 10,000. */
  get memoSize(): number {
    return this.#names.size;
  }

  /**
   * Takes the value over: its arrays are changed in place and returned, its objects are replaced by new ones. It must have
   * come from JSON (own enumerable data properties, no cycles).
   * @throws RangeError past 1,000 levels; arrays that were reached before are changed already.
   */
  convert(value: Record<string, unknown>): Record<string, unknown>;
  convert(value: unknown): unknown;
  convert(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? this.#container(value, MAX_DEPTH) : value;
  }

  #container(value: object, levels: number): unknown {
    if (levels === 0) throw new RangeError(`snake_case: a value is nested deeper than ${MAX_DEPTH} levels`);
    return Array.isArray(value)
      ? this.#array(value, levels - 1)
      : this.#object(value as Record<string, unknown>, levels - 1);
  }

  #array(items: unknown[], levels: number): unknown[] {
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (typeof item === 'object' && item !== null) items[i] = this.#container(item, levels);
      else if (isBeyondDouble(item)) items[i] = this.#overflow();
    }
    return items;
  }

  #object(source: Record<string, unknown>, levels: number): Record<string, unknown> {
    const target: Record<string, unknown> = {};
    // Measured: three quarters of the time that Object.keys needs. JSON's objects inherit nothing enumerable.
    for (const key in source) {
      const name = this.#names.get(key);
      if (name in target && !this.#claim(target, name)) continue;
      const value = source[key];
      if (typeof value === 'object' && value !== null) target[name] = this.#container(value, levels);
      else target[name] = isBeyondDouble(value) ? this.#overflow() : value;
    }
    return target;
  }

  #overflow(): null {
    this.#overflows++;
    return null;
  }

  /** Settles a name that the object has already, or inherits. Makes an inherited one its own, whatever the prototype says. */
  #claim(target: Record<string, unknown>, name: string): boolean {
    if (name === '__proto__') {
      this.#droppedProtos++;
      return false;
    }
    if (Object.hasOwn(target, name)) {
      this.#collisions++;
      return false;
    }
    Object.defineProperty(target, name, { value: undefined, writable: true, enumerable: true, configurable: true });
    return true;
  }
}

/** What JSON.parse makes of a number that a double cannot hold. */
function isBeyondDouble(value: unknown): boolean {
  return value === Infinity || value === -Infinity;
}

/**
 * Names by key, in two generations of at most half the bound each. A full young generation becomes the old one and what
 * was old is forgotten, except for the keys that are asked for again meanwhile. So a key that comes up once in 5,000 new
 * ones is never forgotten, and a flood of new keys costs their own conversion only.
 */
class NameMemo {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): string {
    const name = this.#young.get(key);
    return name !== undefined ? name : this.#miss(key);
  }

  #miss(key: string): string {
    if (key.length > MAX_MEMO_KEY_LENGTH) return snakeCaseName(key);
    const name = this.#old.get(key) ?? snakeCaseName(key);
    if (this.#young.size >= MAX_MEMO_NAMES / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, name);
    return name;
  }
}

/** What SnakeCase makes of a key that it does not drop. */
export function snakeCaseName(key: string): string {
  return key.startsWith('__') ? key : lodash.snakeCase(key) || key;
}
