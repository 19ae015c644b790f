import type { ConnectionFacts } from './connection-facts.ts';

/**
 * A question about a connection's facts whose answer is read, and not the facts themselves: connections with equal answers agree on it.
 */
export interface FactTest {
  /** Unique among the tests of a process; part of `readKey`. */
  readonly name: string;
  /** A pure function of the facts, which never throws. */
  answer(facts: ConnectionFacts): string;
}

/**
 * The facts that one execution read of its connection: keys, not values.
 *
 * Facts are plain, frozen JSON data, so there are three kinds of reads of an object: the value of a key (a leaf, absent, or "an
 * object" or "an array", whose members are read separately), whether a key is present, and the list of keys in order. Each
 * read is recorded. The root has a fourth kind, the answer of a `FactTest`. What a deterministic reader reads next depends only on the values read before. So if two connections agree
 * on every recorded read, an execution for the second would read the same facts and the same values.
 */
export interface FactReads {
  readonly isRoot: boolean;
  /** Keys whose value was read, with the reads of the value where that is an object or array. */
  readonly values: ReadonlyMap<string, FactReads | undefined>;
  /** Keys of which only the presence was read. */
  readonly presences: ReadonlySet<string> | undefined;
  /** True if the list of keys was read. */
  readonly isEnumerated: boolean;
  /** Tests whose answer was read. */
  readonly tests: Pick<ReadonlySet<FactTest>, 'size' | 'has' | 'keys'> | undefined;
}

export interface TrackedFacts {
  /** Read-only view of the facts; a write throws TypeError. Nested objects keep their identity. */
  readonly facts: ConnectionFacts;
  /** Grows with every read through `facts`. */
  readonly reads: TrackedReads;
}

/** A view of a connection's facts that records what is read. */
export function trackReads(facts: ConnectionFacts): TrackedFacts {
  const reads = new TrackedReads(facts, true);
  return { facts: reads.view as ConnectionFacts, reads };
}

/** A copy of the reads so far; it holds no facts. */
export function copyReads(reads: FactReads | undefined): FactReads {
  if (!reads) return NO_READS;
  const values = new Map<string, FactReads | undefined>();
  for (const [key, child] of reads.values) values.set(key, child && copyReads(child));
  const { isRoot, presences, isEnumerated, tests } = reads;
  return {
    isRoot,
    values,
    presences: presences && new Set(presences),
    isEnumerated,
    tests: tests && new Set(tests.keys()),
  };
}

/** The reads of an execution that reads nothing but the answers of these tests. */
export function readsOfTests(tests: Iterable<FactTest>): FactReads {
  return { ...NO_READS, tests: new Set(tests) };
}

/** True if no value and no test was read. At the root that means nothing was learnt: which facts exist is the same for all connections. */
export function readsNothing({ values, tests }: FactReads): boolean {
  return values.size === 0 && tests === undefined;
}

/** True if two executions read the same facts: `readKey` is then the same for both on any facts. */
export function areSameReads(a: FactReads, b: FactReads): boolean {
  if (a.isEnumerated !== b.isEnumerated) return false;
  if (a.values.size !== b.values.size || a.presences?.size !== b.presences?.size) return false;
  if (a.tests?.size !== b.tests?.size) return false;
  for (const [key, mine] of a.values) {
    const theirs = b.values.get(key);
    if (mine && theirs ? !areSameReads(mine, theirs) : mine !== theirs || !b.values.has(key)) return false;
  }
  if (a.presences) for (const key of a.presences) if (!b.presences!.has(key)) return false;
  if (a.tests) for (const test of a.tests.keys()) if (!b.tests!.has(test)) return false;
  return true;
}

/**
 * The reads with their values in `facts`, as one canonical string; '' for no reads. For reads of an execution for A,
 * `readKey(reads, B) === readKey(reads, A)` exactly when B agrees with A on them. It equals `readKey(others, C)` for other reads
 * only where B agrees with C on those.
 */
export function readKey(reads: FactReads, facts: ConnectionFacts): string {
  return nodeKey(reads, facts);
}

/** The names of the facts read, such as `claims.user`, in the order of their first read; at least the object's own name for each object. */
export function factNames(reads: FactReads, path = ''): string[] {
  const names = [...reads.values].flatMap(([key, inner]) => {
    const inside = inner ? factNames(inner, `${path}${key}.`) : [];
    return inside.length > 0 ? inside : `${path}${key}`;
  });
  for (const key of reads.presences ?? []) names.push(`${path}${key}`);
  for (const { name } of reads.tests?.keys() ?? []) names.push(name);
  return reads.isEnumerated ? [...names, `${path}*`] : names;
}

const NO_READS: FactReads = {
  isRoot: true,
  values: new Map(),
  presences: undefined,
  isEnumerated: false,
  tests: undefined,
};

const FACT_NAMES: readonly string[] = ['id', 'headers', 'params', 'claims', 'address'];

/**
 * The reads of one object, and the Proxy handler of its view. The view's target is an empty object or array and never the data, because
 * `util.inspect` reads a Proxy's target without calling the handler.
 */
export class TrackedReads implements ProxyHandler<object>, FactReads {
  readonly data: object;
  readonly isRoot: boolean;
  readonly view: object;
  readonly values = new Map<string, TrackedReads | undefined>();
  presences: Set<string> | undefined;
  isEnumerated = false;
  tests: Map<FactTest, string> | undefined;

  constructor(data: object, isRoot: boolean) {
    this.data = data;
    this.isRoot = isRoot;
    this.view = new Proxy(Array.isArray(data) ? [] : {}, this);
  }

  /** The answer of a test about these facts, which must be the root. */
  answer(test: FactTest): string {
    const known = this.tests?.get(test);
    if (known !== undefined) return known;
    const answer = test.answer(this.data as ConnectionFacts);
    (this.tests ??= new Map<FactTest, string>()).set(test, answer);
    return answer;
  }

  get(target: object, key: string | symbol): unknown {
    if (typeof key === 'symbol') return Reflect.get(target, key);
    const known = this.values.get(key);
    if (known) return known.view;
    const value = ownValue(this, this.data, key);
    if (value === undefined) {
      // An array of JSON data never has an own property with the name of a method, so its absence tells nothing.
      if (!(Array.isArray(target) && key in target)) this.values.set(key, undefined);
      return Reflect.get(target, key);
    }
    if (typeof value !== 'object' || value === null) {
      this.values.set(key, undefined);
      return value;
    }
    const node = new TrackedReads(value, false);
    this.values.set(key, node);
    return node.view;
  }

  has(target: object, key: string | symbol): boolean {
    return this.#isPresent(key) || Reflect.has(target, key);
  }

  ownKeys(target: object): string[] {
    if (Array.isArray(target)) this.values.set('length', undefined);
    else this.isEnumerated = true;
    return keysOf(this, this.data);
  }

  /** For `Object.keys` and `hasOwn`, which need the presence only: the value is behind a getter, so that they do not read it. */
  getOwnPropertyDescriptor(target: object, key: string | symbol): PropertyDescriptor | undefined {
    if (!this.#isPresent(key)) return undefined;
    if (key === 'length' && Array.isArray(target)) {
      return { value: this.get(target, key), writable: true, enumerable: false, configurable: false };
    }
    return { get: () => this.get(target, key), enumerable: true, configurable: true };
  }

  set(): never {
    return refuseWrite();
  }

  defineProperty(): never {
    return refuseWrite();
  }

  deleteProperty(): never {
    return refuseWrite();
  }

  setPrototypeOf(): never {
    return refuseWrite();
  }

  preventExtensions(): never {
    return refuseWrite();
  }

  #isPresent(key: string | symbol): boolean {
    if (typeof key === 'symbol') return false;
    if (!this.values.has(key)) (this.presences ??= new Set()).add(key);
    return ownValue(this, this.data, key) !== undefined;
  }
}

function refuseWrite(): never {
  throw new TypeError('context.connection is read-only');
}

/** The own value of a key; undefined if it is absent, since JSON has no undefined. */
function ownValue(node: FactReads, data: object, key: string): unknown {
  const isThere = node.isRoot ? FACT_NAMES.includes(key) : Object.hasOwn(data, key);
  return isThere ? (data as Record<string, unknown>)[key] : undefined;
}

function keysOf(node: FactReads, data: object): string[] {
  return node.isRoot ? [...FACT_NAMES] : (Reflect.ownKeys(data) as string[]);
}

function nodeKey(node: FactReads, data: object): string {
  let text = node.isEnumerated ? `keys=${JSON.stringify(keysOf(node, data))};` : '';
  if (node.presences) {
    for (const key of [...node.presences].sort()) {
      text += `${JSON.stringify(key)}?${ownValue(node, data, key) === undefined ? 0 : 1};`;
    }
  }
  if (node.tests) {
    for (const test of [...node.tests.keys()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      text += `${JSON.stringify(test.name)}!${JSON.stringify(test.answer(data as ConnectionFacts))};`;
    }
  }
  for (const key of [...node.values.keys()].sort()) {
    text += `${JSON.stringify(key)}=${valueKey(node.values.get(key), ownValue(node, data, key))};`;
  }
  return text;
}

function valueKey(child: FactReads | undefined, value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'absent';
  const inside = child ? nodeKey(child, value) : '';
  return Array.isArray(value) ? `[${inside}]` : `{${inside}}`;
}
