import { snippet } from '../../json/composer.ts';
import type { Snippet } from '../../json/composer.ts';
import { ObjectKeys } from '../../json/object-keys.ts';
import { snakeCaseName } from './snake-case.ts';

/** Keys and places that are remembered of a topic's records, some 1 KB each; past it all is forgotten and learnt anew. */
export const MAX_LEARNT = 4000;
/** In one record. */
export const MAX_LEARNT_OF_RECORD = 64;
/** In the long run. To learn a key takes longer than to parse it, so where keys are data, and new each time, few are learnt. */
const MAX_LEARNT_PER_RECORD = 4;
/** Longer ones are not remembered, as in SnakeCase. */
const MAX_KEY_LENGTH = 64;

/** A path's index, and what of the path is still to go. */
interface Way {
  readonly index: number;
  readonly rest: readonly string[];
}

/** A key of the objects at a place. */
export interface Property {
  /** `"name":` with the key's snake_case name; undefined: it is the key. */
  readonly renamed: Snippet | undefined;
  /** Which object had the name last; shared by all keys of the place that have it. */
  readonly holder: { object: number };
  /** Where its values are. */
  readonly place: Place;
}

/** Where values are in the records of a topic: at the root, behind a key of the objects at another place, or in arrays there. */
export class Place {
  /** Index of the path that ends here; -1: none does. */
  readonly path: number;
  readonly #ways: readonly Way[];
  readonly #places: Places;
  #holders: Map<string, { object: number }> | undefined;
  #keys: ObjectKeys<Property> | undefined;
  #items: Place | undefined;

  constructor(ways: readonly Way[], places: Places) {
    this.path = ways.find(({ rest }) => rest.length === 0)?.index ?? -1;
    this.#ways = ways;
    this.#places = places;
  }

  /** Of the objects here. */
  get keys(): ObjectKeys<Property> {
    return (this.#keys ??= new ObjectKeys((key) => this.#learn(key)));
  }

  /** Where the items of the arrays here are, to which no path leads; undefined: nothing more can be learnt of this record. */
  get items(): Place | undefined {
    if (!this.#items && this.#places.take()) this.#items = new Place([], this.#places);
    return this.#items;
  }

  #learn(key: string): Property | undefined {
    if (key.length > MAX_KEY_LENGTH || isDroppedOrMoved(key)) return undefined;
    const name = snakeCaseName(key);
    if (isDroppedOrMoved(name) || !this.#places.take()) return undefined;
    this.#holders ??= new Map();
    const holder = this.#holders.get(name) ?? { object: 0 };
    this.#holders.set(name, holder);
    const ways = this.#ways
      .filter(({ rest }) => rest[0] === name)
      .map(({ index, rest }) => ({ index, rest: rest.slice(1) }));
    const place = new Place(ways, this.#places);
    const renamed = name === key ? undefined : snippet(`${JSON.stringify(name)}:`);
    return { renamed, holder, place };
  }
}

/** SnakeCase drops `__proto__`, and what JSON.parse makes has keys of digits before all others. */
function isDroppedOrMoved(key: string): boolean {
  return key === '__proto__' || /^\d+$/.test(key);
}

/** All places that the records of a topic have had. */
export class Places {
  /** In the snake_cased payload. */
  readonly paths: readonly (readonly string[])[];
  /** From this index on objects and lists are values of a path, too. */
  readonly firstPresence: number;
  readonly #ways: readonly Way[];
  #root: Place;
  #learnt = 0;
  /** What may be learnt until the next record. */
  #credit = 0;

  constructor(paths: readonly (readonly string[])[], firstPresence = paths.length) {
    this.paths = paths;
    this.firstPresence = firstPresence;
    this.#ways = paths.map((rest, index) => ({ index, rest }));
    this.#root = this.#anew();
  }

  /** Keys and places that are remembered now. */
  get size(): number {
    return this.#learnt;
  }

  /** The root's place, for the next record. */
  begin(): Place {
    this.#credit = Math.min(this.#credit + MAX_LEARNT_PER_RECORD, MAX_LEARNT_OF_RECORD);
    if (this.#learnt + this.#credit > MAX_LEARNT) this.#root = this.#anew();
    return this.#root;
  }

  /** Whether one more may be learnt of this record, which then counts. */
  take(): boolean {
    if (this.#credit === 0) return false;
    this.#credit--;
    this.#learnt++;
    return true;
  }

  #anew(): Place {
    this.#learnt = 0;
    this.#credit = MAX_LEARNT_OF_RECORD;
    return new Place(this.#ways, this);
  }
}
