import { snippet } from '../../base/json/composer.ts';
import type { Snippet } from '../../base/json/composer.ts';
import { snakeCaseName } from '../../base/json/key-naming.ts';
import type { KeyPlace } from '../../base/json/key-place.ts';
import { ObjectKeys } from '../../base/json/object-keys.ts';

/** Keys and nodes that one topic's tree holds, about 1 KB each. A tree that would exceed it is emptied and learnt again. */
export const MAX_LEARNT = 4000;
/** Keys and nodes learnt from one record. */
export const MAX_LEARNT_OF_RECORD = 64;
/** Average per record. Learning a key costs more than parsing it: records whose keys are data, new each time, teach few. */
const MAX_LEARNT_PER_RECORD = 4;
/** Longer keys are not learnt. SnakeCase does not remember them either. */
const MAX_KEY_LENGTH = 64;

/** The end of a path that leads through a node. */
interface RemainingPath {
  /** Index of the path in `KeyTree.paths`. */
  readonly index: number;
  /** Keys below the node. */
  readonly keys: readonly string[];
}

/** A key of the objects at a node. */
export interface Property {
  /** `"name":` with the key's name in the payload; undefined: the name equals the key. */
  readonly renamed: Snippet | undefined;
  /** The last object that had this name. Keys of a node that have the same name share it. */
  readonly lastSeen: { object: number };
  /** Node of the key's values. */
  readonly node: KeyNode;
}

/** A position in the records of a topic: the root, the values of one key of another node, or the items of arrays there. */
export class KeyNode {
  /** Index of the path that ends here; -1: none. */
  readonly path: number;
  readonly #paths: readonly RemainingPath[];
  readonly #tree: KeyTree;
  /** undefined: no object here or below keeps its keys. */
  readonly #place: KeyPlace | undefined;
  #lastSeenByName: Map<string, { object: number }> | undefined;
  #keys: ObjectKeys<Property> | undefined;
  #items: KeyNode | undefined;

  constructor(paths: readonly RemainingPath[], tree: KeyTree, place: KeyPlace | undefined) {
    this.path = paths.find(({ keys }) => keys.length === 0)?.index ?? -1;
    this.#paths = paths;
    this.#tree = tree;
    this.#place = place;
  }

  /** Keys of the objects at this node. */
  get keys(): ObjectKeys<Property> {
    return (this.#keys ??= new ObjectKeys((key) => this.#learn(key)));
  }

  /** Node of the items of the arrays at this node. No path leads there. Undefined: this record may teach no more. */
  items(): KeyNode | undefined {
    if (!this.#items && this.#tree.spendCredit()) this.#items = new KeyNode([], this.#tree, this.#place);
    return this.#items;
  }

  #learn(key: string): Property | undefined {
    if (key.length > MAX_KEY_LENGTH || isDroppedOrMoved(key)) return undefined;
    const place = this.#place;
    const name = place?.keepsKeys ? key : snakeCaseName(key);
    if (isDroppedOrMoved(name) || !this.#tree.spendCredit()) return undefined;
    this.#lastSeenByName ??= new Map();
    const lastSeen = this.#lastSeenByName.get(name) ?? { object: 0 };
    this.#lastSeenByName.set(name, lastSeen);
    const paths = this.#paths
      .filter(({ keys }) => keys[0] === name)
      .map(({ index, keys }) => ({ index, keys: keys.slice(1) }));
    const renamed = name === key ? undefined : snippet(`${JSON.stringify(name)}:`);
    const placeBelow = place?.keepsKeys ? place : place?.below.get(name);
    return { renamed, lastSeen, node: new KeyNode(paths, this.#tree, placeBelow) };
  }
}

/** SnakeCase drops `__proto__`, and JSON.parse puts integer keys before all others. */
function isDroppedOrMoved(key: string): boolean {
  return key === '__proto__' || /^\d+$/.test(key);
}

/** The keys that the records of one topic have had, with their names in the payload. */
export class KeyTree {
  /** Paths in the payload whose values the caller reads. */
  readonly paths: readonly (readonly string[])[];
  /** From this path index on an object or a list counts as a value, too. */
  readonly firstPresence: number;
  readonly #place: KeyPlace | undefined;
  #root: KeyNode;
  #learnt = 0;
  /** Keys and nodes that may be learnt before the next record. */
  #credit = 0;

  /** @param place of the whole payload; undefined: no object keeps its keys */
  constructor(paths: readonly (readonly string[])[], firstPresence = paths.length, place?: KeyPlace) {
    this.paths = paths;
    this.firstPresence = firstPresence;
    this.#place = place;
    this.#root = this.#emptyRoot();
  }

  /** Keys and nodes learnt. */
  get size(): number {
    return this.#learnt;
  }

  /** The root node, for the next record. */
  startRecord(): KeyNode {
    this.#credit = Math.min(this.#credit + MAX_LEARNT_PER_RECORD, MAX_LEARNT_OF_RECORD);
    if (this.#learnt + this.#credit > MAX_LEARNT) this.#root = this.#emptyRoot();
    return this.#root;
  }

  /** Counts one more key or node; false: this record may teach no more. */
  spendCredit(): boolean {
    if (this.#credit === 0) return false;
    this.#credit--;
    this.#learnt++;
    return true;
  }

  #emptyRoot(): KeyNode {
    this.#learnt = 0;
    this.#credit = MAX_LEARNT_OF_RECORD;
    const paths = this.paths.map((keys, index) => ({ index, keys }));
    return new KeyNode(paths, this, this.#place);
  }
}
