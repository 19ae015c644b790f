import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type * as runtime from '../../../plugins/babel-plugin-proxy-lazy/runtime.js';

// By path, because the compiled tests live apart from the plugin.
const runtimeUrl = pathToFileURL(resolve('plugins/babel-plugin-proxy-lazy/runtime.js')).href;
const { Lazy } = (await import(runtimeUrl)) as typeof runtime;

type Values = Record<PropertyKey, unknown>;

/** A lazy object with these values, and how often each was computed. */
function createLazy(values: Values): { lazy: Values; computed: Map<PropertyKey, number> } {
  const computed = new Map<PropertyKey, number>();
  const target: Values = {};
  for (const key of Reflect.ownKeys(values)) define(target, key, Lazy.unbuilt);
  const lazy = Lazy.proxy(target, (key) => {
    computed.set(key, (computed.get(key) ?? 0) + 1);
    return values[key];
  });
  return { lazy, computed };
}

/** As a literal does: `__proto__` becomes a property, too. */
function define(object: object, key: PropertyKey, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

describe('Lazy', () => {
  it('does what a plain object does, and computes no value twice', () => {
    fc.assert(
      fc.property(valuesArbitrary, fc.array(operationArbitrary, { maxLength: 12 }), (values, operations) => {
        const plain: Values = {};
        for (const key of Reflect.ownKeys(values)) define(plain, key, values[key]);
        const { lazy, computed } = createLazy(values);

        for (const operation of operations) {
          assert.deepEqual(outcome(operation, lazy), outcome(operation, plain), operation.name);
        }
        assert.deepEqual(snapshot(lazy), snapshot(plain));
        for (const [key, count] of computed) assert.equal(count, 1, `${String(key)} was computed ${count} times`);
      }),
      { numRuns: 1000 },
    );
  });

  it('computes exactly the values that are read', () => {
    fc.assert(
      fc.property(valuesArbitrary, fc.infiniteStream(fc.boolean()), (values, isRead) => {
        const { lazy, computed } = createLazy(values);
        const read = Object.keys(lazy).filter(() => isRead.next().value);
        for (const key of read) void lazy[key];
        assert.deepEqual([...computed.keys()], read);
      }),
    );
  });

  it('keeps an assigned value and never computes its own', () => {
    const { lazy, computed } = createLazy({ a: 1, b: 2 });
    lazy['a'] = 'assigned';
    Object.assign(lazy, { b: 'too' });
    assert.deepEqual({ ...lazy }, { a: 'assigned', b: 'too' });
    assert.equal(computed.size, 0);
  });

  it('lets an object that inherits from it read through and write to itself', () => {
    const { lazy, computed } = createLazy({ a: 1, b: 2 });
    const child = Object.create(lazy) as Values;
    child['a'] = 'own';
    assert.equal(computed.size, 0);
    assert.deepEqual([child['a'], child['b'], lazy['a']], ['own', 2, 1]);
    assert.deepEqual(Object.keys(child), ['a']);
    assert.equal(lazy['b'], 2);
    assert.deepEqual([...computed], [['b', 1], ['a', 1]]); // prettier-ignore
  });

  it('stays lazy when its descriptors are copied', () => {
    const { lazy, computed } = createLazy({ a: 1, b: 2 });
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(lazy)) as Values;
    assert.equal(computed.size, 0);
    copy['a'] = 'own';
    assert.deepEqual([copy['a'], copy['b'], lazy['a']], ['own', 2, 1]);
    assert.deepEqual({ ...copy }, { a: 'own', b: 2 });
  });

  it('computes everything when it is frozen, sealed or closed to extensions', () => {
    for (const close of [Object.freeze, Object.seal, Object.preventExtensions]) {
      const { lazy, computed } = createLazy({ a: 1, b: undefined });
      void lazy['a'];
      close(lazy);
      assert.deepEqual([...computed], [['a', 1], ['b', 1]]); // prettier-ignore
      assert.deepEqual(snapshot(lazy), snapshot(close({ a: 1, b: undefined })));
    }
  });

  it('stays open when a value throws while it is frozen', () => {
    const lazy = Lazy.proxy<Values>({ a: Lazy.unbuilt }, () => assert.fail('not today'));
    assert.throws(() => Object.freeze(lazy), /not today/);
    assert.equal(Object.isExtensible(lazy), true);
  });

  it('names the cycle when a value needs itself, across objects too', () => {
    const one: Values = Lazy.proxy<Values>({ a: Lazy.unbuilt }, () => two['b']);
    const two: Values = Lazy.proxy<Values>({ b: Lazy.unbuilt }, () => one['a']);
    assert.throws(() => one['a'], new ReferenceError('Proxy.lazy: the value of "a" needs itself (a > a)'));
    assert.throws(() => two['b'], new ReferenceError('Proxy.lazy: the value of "b" needs itself (b > b)'));
  });

  it('shows unbuilt values as their marker when it is inspected, and builds none', () => {
    const { lazy, computed } = createLazy({ a: 1, b: 2 });
    void lazy['b'];
    // Node 26 says that it is a proxy.
    const [, shown] = /^(?:Proxy\()?(\{.*?\})\)?$/.exec(inspect(lazy)) ?? [];
    assert.equal(shown, '{ a: Symbol(propNotConstructed), b: 2 }');
    assert.deepEqual([...computed.keys()], ['b']);
  });
});

interface Operation {
  readonly name: string;
  readonly run: (object: Values) => unknown;
}

const keyArbitrary = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'seller', '0', '1', '10', '-1', '__proto__', 'constructor', 'toString', 'toJSON'),
  fc.string({ maxLength: 3 }),
);
const valueArbitrary = fc.oneof(fc.integer(), fc.string(), fc.constantFrom(null, undefined, true), fc.object());
const valuesArbitrary = fc.array(fc.tuple(keyArbitrary, valueArbitrary), { maxLength: 8 }).map((entries) => {
  const values: Values = {};
  for (const [key, value] of entries) define(values, key, value);
  return values;
});

const withKey: Readonly<Record<string, (object: Values, key: string, value: unknown) => unknown>> = {
  get: (object, key) => object[key],
  set: (object, key, value) => (object[key] = value),
  delete: (object, key) => delete object[key],
  in: (object, key) => key in object,
  hasOwn: (object, key) => Object.hasOwn(object, key),
  descriptor: (object, key) => describeProperty(object, key),
  increment: (object, key) => (object[key] = `${String(object[key])}x`),
  assign: (object, key, value) => void Object.assign(object, { [key]: value }),
  defineValue: (object, key, value) => void Object.defineProperty(object, key, { value }),
  defineGetter: (object, key, value) =>
    void Object.defineProperty(object, key, { get: () => value, configurable: true, enumerable: true }),
  defineNothing: (object, key) => void Object.defineProperty(object, key, {}),
  hide: (object, key) => void Object.defineProperty(object, key, { enumerable: false }),
  lock: (object, key) => void Object.defineProperty(object, key, { writable: false, configurable: false }),
  inherit: (object, key) => (Object.create(object) as Values)[key],
  setOnChild: (object, key, value) => {
    const child = Object.create(object) as Values;
    child[key] = value;
    return [child[key], Object.keys(child)];
  },
};

const withoutKey: Readonly<Record<string, (object: Values) => unknown>> = {
  keys: (object) => Object.keys(object),
  ownKeys: (object) => Reflect.ownKeys(object),
  values: (object) => Object.values(object),
  entries: (object) => Object.entries(object),
  spread: (object) => ({ ...object }),
  json: (object) => JSON.stringify(object),
  forIn: (object) => {
    const keys = [];
    for (const key in object) keys.push(key);
    return keys;
  },
  instanceOf: (object) => object instanceof Object,
  tag: (object) => Object.prototype.toString.call(object),
  freeze: (object) => void Object.freeze(object),
  // Object.seal spelled out: in V8 11.3 a plain object with keys like "0" is no longer sealed after one is redefined.
  seal: (object) => {
    Object.preventExtensions(object);
    for (const key of Reflect.ownKeys(object)) Object.defineProperty(object, key, { configurable: false });
  },
  preventExtensions: (object) => void Object.preventExtensions(object),
};

const operationArbitrary: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: operations(withKey) },
  { weight: 1, arbitrary: operations(withoutKey) },
);

function operations(table: typeof withKey): fc.Arbitrary<Operation> {
  return fc
    .tuple(fc.constantFrom(...Object.entries(table)), keyArbitrary, valueArbitrary)
    .map(([[name, apply], key, value]): Operation => ({
      name: `${name} ${key}`,
      run: (object) => apply(object, key, value),
    }));
}

/** What the operation gives; a refusal by kind, as its message may name the proxy's trap. */
function outcome({ run }: Operation, object: Values): unknown {
  try {
    return { value: run(object) };
  } catch (error) {
    return { error: (error as Error).constructor.name };
  }
}

/** A descriptor, and what it reads as, whether that is by value or by getter. */
function describeProperty(object: Values, key: PropertyKey): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  if (descriptor === undefined) return undefined;
  const { enumerable, configurable } = descriptor;
  const value = 'value' in descriptor ? (descriptor.value as unknown) : (descriptor.get?.call(object) as unknown);
  return { value, enumerable, configurable, isWritable: descriptor.writable ?? 'set' in descriptor };
}

function snapshot(object: Values): unknown {
  return {
    properties: Reflect.ownKeys(object).map((key) => [key, describeProperty(object, key)]),
    isExtensible: Object.isExtensible(object),
    isSealed: Object.isSealed(object),
    isFrozen: Object.isFrozen(object),
  };
}
