import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import type { SourceMapInput } from '@jridgewell/trace-mapping';
import fc from 'fast-check';
import { compile, run } from './compile.ts';

describe('the transform', () => {
  it('means what the plain literal means, for any mixture of properties', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(propertyArbitrary, { maxLength: 8 }), async (properties) => {
        const literal = `{ ${properties.map((write, index) => write(index)).join(', ')} }`;
        const { code } = await compile(comparison(literal));
        const { lazy, plain } = await run(code);
        assert.deepEqual(lazy, plain, literal);
      }),
      { numRuns: 150 },
    );
  });

  it('makes one function for a literal, however many keys it has', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `key${index}: f(${index})`);
    const { code } = await compile(`Proxy.lazy({ ${keys.join(', ')} })`);
    const withoutRuntime = code.replace(/class Lazy \{\n.*?\n\}/s, '');
    assert.equal(withoutRuntime.match(/=>|function/g)?.length, 1);
  });

  it('compiles a literal of five thousand keys', async () => {
    const keys = Array.from({ length: 5000 }, (_, index) => `key${index}: ${index}`);
    const { code } = await compile(
      `export const lazy = Proxy.lazy({ ${keys.join(', ')} }); export const last = lazy.key4999;`,
    );
    assert.equal((await run(code))['last'], 4999);
  });

  it('maps every expression of the literal to its own line and column', async () => {
    const source = [
      'export const outer = Proxy.lazy({',
      '  seller: createSeller(),',
      '  // a comment',
      '  nested: Proxy.lazy({ venue: createVenue(), [computedKey()]: createComputed() }),',
      '  ...spreadIn(),',
      '});',
      'afterwards();',
    ].join('\n');
    const { code, map } = await compile(source, 'maps.js');
    const trace = new TraceMap(map as SourceMapInput);
    for (const name of source.match(/\w+(?=\(\))/g) ?? []) {
      const { line, column } = originalPositionFor(trace, position(code, `${name}()`));
      assert.deepEqual({ name, line, column }, { name, ...position(source, `${name}()`) });
    }
  });

  it('keeps stack traces at the line of the source', async () => {
    const source = ['export const lazy = Proxy.lazy({', '  ok: 1,', '  broken: null.property,', '});'].join('\n');
    const { code, map } = await compile(source, 'trace.js');
    const { lazy } = (await run(code)) as { lazy: { broken: unknown } };
    const { line, column } = thrownAt(() => lazy.broken);
    assert.equal(originalPositionFor(new TraceMap(map as SourceMapInput), { line, column }).line, 3);
  });
});

type WriteProperty = (index: number) => string;

const keys = ['a', 'b', 'c', '1', '2'];
const keyArbitrary = fc.constantFrom(...keys);
const propertyArbitrary: fc.Arbitrary<WriteProperty> = fc.oneof(
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `${key}: value(${index})`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `'${key}': [value(${index})]`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `[key('${key}')]: value(${index})`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `[Number('${key}')]: value(${index})`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `get ${key}() { return [${index}, Object.keys(this)]; }`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `set ${key}(value) { void ${index}; }`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      (index) =>
        `...{ ${key}: value(${index}), spread: ${index} }`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      () =>
        `${key}: () => 1`,
  ),
  keyArbitrary.map(
    (key): WriteProperty =>
      () =>
        `${key}() { return super.toString(); }`,
  ),
  fc.constantFrom<WriteProperty>(
    () => 'shorthand',
    () => 'nested: Proxy.lazy({ a: value(1), b: Proxy.lazy({ ["c"]: value(2) }) })',
    () => '__proto__() {}',
    () => '["__proto__"]: value(3)',
  ),
);

/** A module that looks at the literal twice: as it is, and through Proxy.lazy. */
function comparison(literal: string): string {
  return `
    const shorthand = 'a variable';
    const value = (index) => ({ index });
    let evaluatedKeys = [];
    const key = (name) => (evaluatedKeys.push(name), name);
    const look = (create) => {
      evaluatedKeys = [];
      const object = create();
      const keys = Reflect.ownKeys(object);
      const values = Object.entries(object).map(([name, value]) =>
        typeof value === 'function' ? [name, value.name, value.call(object)] : [name, value]);
      return { keys, values, json: JSON.stringify(object), spread: Object.keys({ ...object }), evaluatedKeys };
    };
    export const lazy = look(() => Proxy.lazy(${literal}));
    export const plain = look(() => (${literal.replaceAll('Proxy.lazy', '')}));
  `;
}

/** Line (from 1) and column (from 0) of the one place where the text stands. */
function position(code: string, text: string): { line: number; column: number } {
  const before = code.slice(0, code.indexOf(text)).split('\n');
  return { line: before.length, column: before.at(-1)?.length ?? 0 };
}

/** Where in the generated code the exception comes from; `column` from 0. */
function thrownAt(read: () => unknown): { line: number; column: number } {
  try {
    read();
  } catch (error) {
    const [, line, column] = /:(\d+):(\d+)\)?$/m.exec((error as Error).stack ?? '') ?? [];
    return { line: Number(line), column: Number(column) - 1 };
  }
  return assert.fail('did not throw');
}
