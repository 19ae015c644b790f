import { snakeCaseName } from '../../base/json/key-naming.ts';
import type { KeyPlace } from '../../base/json/key-place.ts';

/** Most levels of objects and arrays; an object of scalars is one level. More than a record has (`MAX_RECORD_DEPTH`). */
const MAX_DEPTH = 1000;
const MAX_MEMO_NAMES = 10_000;
const MAX_MEMO_KEY_LENGTH = 64;

/**
 * Renames the keys of JSON values to snake_case at every level. Values stay as they are, except numbers beyond a double (`1e400`):
 * JSON cannot print them, so they become null and are counted.
 *
 * A key becomes lodash's `snakeCase` of it, except that:
 * - a key that begins with two underscores stays as it is: GraphQL reserves those names (`__typename`);
 * - a key that lodash would make empty (`$`) stays as it is;
 * - a key `__proto__` is dropped and counted. No other key can become `__proto__`;
 * - of different keys of one object that become the same name, the one that equals the name wins, else the first; the others are dropped
 *   and counted.
 *
 * Objects at a place that keeps its keys stay as they are, except for `__proto__` and numbers beyond a double.
 */
export class SnakeCase {
  readonly #names = new NameMemo();
  #collisions = 0;
  #droppedProtos = 0;
  #overflows = 0;

  /** Properties dropped so far because another key of the same object had the same name. */
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

  /** Names in the memo, at most 10,000. */
  get memoSize(): number {
    return this.#names.size;
  }

  /**
   * Takes ownership of the value: changes its arrays, and objects that keep their keys, in place and replaces other objects by new ones.
   * The value must come from JSON.parse (own enumerable data properties, no cycles).
   * @param place of the value; undefined: no object keeps its keys
   * @throws RangeError beyond 1,000 levels; some arrays are changed by then.
   */
  convertObjToSnakeKeys(value: Record<string, unknown>, place?: KeyPlace): Record<string, unknown>;
  convertObjToSnakeKeys(value: unknown, place?: KeyPlace): unknown;
  convertObjToSnakeKeys(value: unknown, place?: KeyPlace): unknown {
    return typeof value === 'object' && value !== null ? this.#container(value, place, MAX_DEPTH) : value;
  }

  #container(value: object, place: KeyPlace | undefined, levels: number): unknown {
    if (levels === 0) throw new RangeError(`snake_case: a value is nested deeper than ${MAX_DEPTH} levels`);
    if (Array.isArray(value)) return this.#array(value, place, levels - 1);
    const source = value as Record<string, unknown>;
    return place?.keepsKeys ? this.#kept(source, place, levels - 1) : this.#object(source, place, levels - 1);
  }

  #array(items: unknown[], place: KeyPlace | undefined, levels: number): unknown[] {
    for (let i = 0; i < items.length; i++) {
      const item = items[i];
      if (typeof item === 'object' && item !== null) items[i] = this.#container(item, place, levels);
      else if (isBeyondDouble(item)) items[i] = this.#overflow();
    }
    return items;
  }

  #object(source: Record<string, unknown>, place: KeyPlace | undefined, levels: number): Record<string, unknown> {
    const target: Record<string, unknown> = {};
    // Takes three quarters of the time of Object.keys. Objects of JSON.parse inherit nothing enumerable.
    for (const key in source) {
      const name = this.#names.get(key);
      if (name in target && !this.#mayAssign(target, name, key)) continue;
      const value = source[key];
      if (typeof value === 'object' && value !== null)
        target[name] = this.#container(value, place?.below.get(name), levels);
      else target[name] = isBeyondDouble(value) ? this.#overflow() : value;
    }
    return target;
  }

  #overflow(): null {
    this.#overflows++;
    return null;
  }

  /** Whether the value of `key` becomes the property `name` of `target`, which has or inherits this name. */
  #mayAssign(target: Record<string, unknown>, name: string, key: string): boolean {
    if (name === '__proto__') {
      this.#droppedProtos++;
      return false;
    }
    if (Object.hasOwn(target, name)) {
      this.#collisions++;
      return key === name;
    }
    Object.defineProperty(target, name, { value: undefined, writable: true, enumerable: true, configurable: true });
    return true;
  }

  #kept(source: Record<string, unknown>, place: KeyPlace, levels: number): Record<string, unknown> {
    for (const key in source) {
      const value = source[key];
      if (key === '__proto__') {
        delete source[key];
        this.#droppedProtos++;
      } else if (typeof value === 'object' && value !== null) source[key] = this.#container(value, place, levels);
      else if (isBeyondDouble(value)) source[key] = this.#overflow();
    }
    return source;
  }
}

/** True for the result of JSON.parse for a number that a double cannot hold. */
function isBeyondDouble(value: unknown): boolean {
  return value === Infinity || value === -Infinity;
}

/**
 * Memo of names by key, in two generations of at most half the bound each. When the young generation is full, it becomes the old one
 * and the old one is discarded. A key found in the old generation returns to the young one. So a key that recurs at least once in
 * 5,000 new keys is never forgotten, and a flood of new keys slows down no other key.
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
