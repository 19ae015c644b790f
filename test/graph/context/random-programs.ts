import fc from 'fast-check';
import { createFacts, createRequest } from '../../../src/graph/context/connection-facts.ts';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';

export function factsWith(claims: object, rawHeaders: string[] = [], id = 'c1', params: object = {}): ConnectionFacts {
  return createFacts(createRequest({ id, rawHeaders, params, address: '10.0.0.1' }), claims);
}

/** One step of a random reader: what it asks of the value that it holds. */
export interface Step {
  readonly ask: keyof typeof asks;
  readonly key: string;
}

type Value = Record<string, unknown>;
const plain = (value: unknown): unknown =>
  typeof value === 'function' ? 'function' : (JSON.parse(JSON.stringify({ value })) as { value: unknown }).value;

/** Each answers what it observed, as plain data, and the value to go on with. */
const asks = {
  get: (value: Value, key: string) => {
    const inner = value[key];
    const isObject = typeof inner === 'object' && inner !== null;
    return { seen: isObject ? Array.isArray(inner) : plain(inner), next: isObject ? (inner as Value) : value };
  },
  has: (value: Value, key: string) => ({ seen: key in value, next: value }),
  hasOwn: (value: Value, key: string) => ({ seen: Object.hasOwn(value, key), next: value }),
  descriptor: (value: Value, key: string) => {
    const found = Object.getOwnPropertyDescriptor(value, key);
    return { seen: found && [found.enumerable, plain(found.get ? found.get() : found.value)], next: value };
  },
  keys: (value: Value) => ({ seen: Object.keys(value), next: value }),
  ownKeys: (value: Value) => ({ seen: Reflect.ownKeys(value), next: value }),
  entries: (value: Value) => ({ seen: Object.entries(value).map(([key, inner]) => [key, typeof inner]), next: value }),
  spread: (value: Value) => ({ seen: plain({ ...value }), next: value }),
  rest: ({ a, ...rest }: Value) => ({ seen: [plain(a), plain(rest)], next: rest }),
  json: (value: Value) => ({ seen: JSON.stringify(value), next: value }),
  forIn: (value: Value) => {
    const seen: string[] = [];
    for (const key in value) seen.push(key);
    return { seen, next: value };
  },
  length: (value: Value) => ({ seen: plain(value['length']), next: value }),
  includes: (value: Value) => ({ seen: Array.isArray(value) && value.includes('x'), next: value }),
  find: (value: Value) => ({ seen: Array.isArray(value) && plain(value.find((v) => v === 1)), next: value }),
  iterate: (value: Value) => ({ seen: Array.isArray(value) && [...(value as unknown[])].map(plain), next: value }),
  text: (value: Value) => ({ seen: Object.prototype.toString.call(value), next: value }),
  firstOfKeys: (value: Value) => {
    const key = Object.keys(value)[0];
    return key === undefined ? { seen: 'none', next: value } : asks.get(value, key);
  },
};

export function observe(program: readonly Step[], facts: ConnectionFacts): unknown[] {
  let current = facts as unknown as Value;
  return program.map(({ ask, key }) => {
    if (key === 'top') current = facts as unknown as Value;
    try {
      const { seen, next } = asks[ask](current, key);
      current = next;
      return seen;
    } catch (error) {
      return String(error);
    }
  });
}

const keyName = fc.constantFrom('a', 'b', '0', '1', 'length', 'toString', 'toJSON', '__proto__', 'map', 'x');
const { data } = fc.letrec((tie) => ({
  data: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown[]>(null, true, 0, 1, 'x', '', 'undefined'),
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(keyName, tie('data'), { maxKeys: 4 }),
  ),
}));
const claimsOf = fc.dictionary(keyName, data, { maxKeys: 4 });
const stepOf = fc.record({
  ask: fc.constantFrom(...(Object.keys(asks) as (keyof typeof asks)[])),
  key: fc.oneof(keyName, fc.constantFrom('claims', 'headers', 'params', 'id', 'top', 'x-a')),
});
export const programOf = fc
  .tuple(fc.constantFrom('claims', 'claims', 'params', 'headers', 'top'), fc.array(stepOf, { maxLength: 8 }))
  .map(([first, steps]): Step[] => [{ ask: 'get', key: first }, ...steps]);
export const connectionOf = fc
  .record({
    claims: claimsOf,
    params: claimsOf,
    header: fc.constantFrom('1', '2', ''),
    id: fc.constantFrom('c1', 'c2'),
  })
  .map(({ claims, params, header, id }) => factsWith(claims, header ? ['X-A', header] : [], id, params));
