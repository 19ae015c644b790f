import type { ConnectionFacts } from './connection-facts.ts';

/**
 * What one execution read of a connection's facts, and a view of the facts that records it.
 *
 * Facts are plain, frozen JSON data, so all that a reader can learn of them is made of three questions about a key of an
 * object: which value it has (a leaf, absent, or "an object" or "an array", whose inside is asked anew), whether it is
 * there, and which keys there are, in order. Each question asked is recorded. A deterministic reader asks its next question
 * because of the answers so far; where two connections give the same answer to every recorded question, they agree: it would
 * have asked the same ones of both and learnt the same.
 */
export type FactReads = ReadNode;

export interface TrackedFacts {
  /** Read-only view: feels like the facts, and a write throws TypeError. Nested objects keep their identity. */
  readonly facts: ConnectionFacts;
  /** Grows with every read through `facts`. */
  readonly reads: FactReads;
}

export function trackReads(facts: ConnectionFacts): TrackedFacts {
  const reads = new ReadNode(facts, true);
  return { facts: reads.view as ConnectionFacts, reads };
}

/** What was asked, without what was answered. Reads are questions, too, which may still grow. */
export interface Questions {
  readonly isRoot: boolean;
  readonly values: ReadonlyMap<string, Questions | undefined>;
  readonly presences: ReadonlySet<string> | undefined;
  readonly isEnumerated: boolean;
}

/** A copy that no later read changes and that holds no facts. `undefined` asks nothing. */
export function questionsOf(reads: Questions | undefined): Questions {
  if (!reads) return NO_QUESTIONS;
  const values = new Map<string, Questions | undefined>();
  for (const [key, child] of reads.values) values.set(key, child && questionsOf(child));
  const { isRoot, presences, isEnumerated } = reads;
  return { isRoot, values, presences: presences && new Set(presences), isEnumerated };
}

/** Whether no value is asked for, at the root: which facts there are is the same for all connections. */
export function asksNothing({ values }: Questions): boolean {
  return values.size === 0;
}

/** Whether two ask the same: `readKey` is then the same for both on any facts. */
export function asksSame(a: Questions, b: Questions): boolean {
  if (a.isEnumerated !== b.isEnumerated) return false;
  if (a.values.size !== b.values.size || a.presences?.size !== b.presences?.size) return false;
  for (const [key, mine] of a.values) {
    const theirs = b.values.get(key);
    if (mine && theirs ? !asksSame(mine, theirs) : mine !== theirs || !b.values.has(key)) return false;
  }
  if (a.presences) for (const key of a.presences) if (!b.presences!.has(key)) return false;
  return true;
}

/**
 * The questions with their answers on `facts`, in one canonical string: '' where nothing was asked. For reads of A,
 * `readKey(reads, B) === readKey(reads, A)` exactly when B agrees with A on them; and `readKey(reads, B)` equals a key of other
 * questions on C only where B agrees with C on those.
 */
export function readKey(questions: Questions, facts: ConnectionFacts): string {
  return nodeKey(questions, facts);
}

/** The names of the facts asked for, such as `claims.user`, in their order; of each object at least its own name. */
export function factNames(questions: Questions, path = ''): string[] {
  const names = [...questions.values].flatMap(([key, inner]) => {
    const inside = inner ? factNames(inner, `${path}${key}.`) : [];
    return inside.length > 0 ? inside : `${path}${key}`;
  });
  for (const key of questions.presences ?? []) names.push(`${path}${key}`);
  return questions.isEnumerated ? [...names, `${path}*`] : names;
}

const NO_QUESTIONS: Questions = {
  isRoot: true,
  values: new Map(),
  presences: undefined,
  isEnumerated: false,
};

const FACT_NAMES: readonly string[] = ['id', 'headers', 'params', 'claims', 'address'];

/**
 * The reads of one object, and the handler of its view. The view's target is an empty stand-in and never the data, because
 * `util.inspect` looks through a proxy at its target without asking the handler.
 */
class ReadNode implements ProxyHandler<object>, Questions {
  readonly data: object;
  readonly isRoot: boolean;
  readonly view: object;
  /** Keys whose value was read, with the node of the value where that is an object or array. */
  readonly values = new Map<string, ReadNode | undefined>();
  /** Keys of which only the presence was read. */
  presences: Set<string> | undefined;
  /** Whether the list of keys was read. */
  isEnumerated = false;

  constructor(data: object, isRoot: boolean) {
    this.data = data;
    this.isRoot = isRoot;
    this.view = new Proxy(Array.isArray(data) ? [] : {}, this);
  }

  get(target: object, key: string | symbol): unknown {
    if (typeof key === 'symbol') return Reflect.get(target, key);
    const known = this.values.get(key);
    if (known) return known.view;
    const value = valueAt(this, this.data, key);
    if (value === undefined) {
      // No array has an own property under the name of a method, so its absence tells nothing.
      if (!(Array.isArray(target) && key in target)) this.values.set(key, undefined);
      return Reflect.get(target, key);
    }
    if (typeof value !== 'object' || value === null) {
      this.values.set(key, undefined);
      return value;
    }
    const node = new ReadNode(value, false);
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

  /** Tells that the key is there, as `Object.keys` and `hasOwn` ask; the value is behind a getter, so that only its reader reads it. */
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
    return valueAt(this, this.data, key) !== undefined;
  }
}

function refuseWrite(): never {
  throw new TypeError('context.connection is read-only');
}

/** Own value of a key; undefined is "absent", since JSON has no undefined. */
function valueAt(node: Questions, data: object, key: string): unknown {
  const isThere = node.isRoot ? FACT_NAMES.includes(key) : Object.hasOwn(data, key);
  return isThere ? (data as Record<string, unknown>)[key] : undefined;
}

function keysOf(node: Questions, data: object): string[] {
  return node.isRoot ? [...FACT_NAMES] : (Reflect.ownKeys(data) as string[]);
}

function nodeKey(node: Questions, data: object): string {
  let text = node.isEnumerated ? `keys=${JSON.stringify(keysOf(node, data))};` : '';
  if (node.presences) {
    for (const key of [...node.presences].sort()) {
      text += `${JSON.stringify(key)}?${valueAt(node, data, key) === undefined ? 0 : 1};`;
    }
  }
  for (const key of [...node.values.keys()].sort()) {
    text += `${JSON.stringify(key)}=${answerKey(node.values.get(key), valueAt(node, data, key))};`;
  }
  return text;
}

function answerKey(child: Questions | undefined, value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'absent';
  const inside = child ? nodeKey(child, value) : '';
  return Array.isArray(value) ? `[${inside}]` : `{${inside}}`;
}
