import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import lodash from 'lodash';
import type { KeyPlace } from '../../../src/base/json/key-place.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const anyKey = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({
    unit: fc.constantFrom('a', 'b', 'A', 'B', '1', '2', '_', '-', '.', ' ', '$', "'", 'é', '日'),
    maxLength: 12,
  }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '__typename',
    '__proto__',
    '_Proto__',
    '__PROTO__',
    '____proto____',
    'constructor',
    'toString',
    'valueOf',
  ),
);

const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie('tree')), { maxLength: 8 }).map((pairs) => parsed(pairs)),
  ),
}));

/** An object as JSON.parse returns it: `__proto__` is an own property. */
function parsed(pairs: [string, Json][]): { [key: string]: Json } {
  return Object.fromEntries(pairs);
}

function keyCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children = Object.values(value);
  return (Array.isArray(value) ? 0 : children.length) + children.reduce<number>((sum, item) => sum + keyCount(item), 0);
}

function containers(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(containers)];
}

/** The rule of SnakeCase's docblock for one key. */
function expectedName(key: string): string {
  return key.startsWith('__') ? key : lodash.snakeCase(key) || key;
}

describe('SnakeCase', () => {
  it('renames keys at every level and keeps every scalar', () => {
    const converted = new SnakeCase().convertObjToSnakeKeys({
      visibleAuctionStartDateTime: '2024-02-18T12:30:11.683612Z',
      createdBy: 0,
      externalIdentifiers: [{ externalId: 'camelCase' }, null, [{ userID2Name: true }], 'aB'],
      fclMarketing: { clerk0: null, HTTPServer: -0.5 },
    });
    assert.deepEqual(converted, {
      visible_auction_start_date_time: '2024-02-18T12:30:11.683612Z',
      created_by: 0,
      external_identifiers: [{ external_id: 'camelCase' }, null, [{ user_id_2_name: true }], 'aB'],
      fcl_marketing: { clerk_0: null, http_server: -0.5 },
    });
  });

  it('keeps the order of the properties', () => {
    assert.deepEqual(Object.keys(new SnakeCase().convertObjToSnakeKeys({ zebraOne: 1, alphaTwo: 2, midThree: 3 })), [
      'zebra_one',
      'alpha_two',
      'mid_three',
    ]);
  });

  it('names every key as lodash does', () => {
    const snakeCase = new SnakeCase();
    fc.assert(
      fc.property(anyKey, (key) => {
        if (key === '__proto__') return;
        const source = parsed([[key, 1]]);
        assert.deepEqual(Object.entries(snakeCase.convertObjToSnakeKeys(source)), [[expectedName(key), 1]]);
        assert.deepEqual(
          Object.entries(snakeCase.convertObjToSnakeKeys(source)),
          [[expectedName(key), 1]],
          'from the memo',
        );
      }),
      { numRuns: 5000 },
    );
  });

  it('keeps keys that GraphQL reserves, and keys that lodash would make empty', () => {
    const source = { __typename: 'Auction', __: 1, $: 2, '': 3, '-': 4, _: 5 };
    assert.deepEqual(new SnakeCase().convertObjToSnakeKeys({ ...source }), source);
  });

  it('reuses arrays, replaces objects, and returns scalars unchanged', () => {
    const snakeCase = new SnakeCase();
    const inner = [{ aB: 1 }];
    const source = { list: inner };
    const converted = snakeCase.convertObjToSnakeKeys(source);
    assert.equal(converted['list'], inner);
    assert.notEqual(converted, source);
    assert.deepEqual(inner, [{ a_b: 1 }]);
    for (const scalar of ['aB', 1, true, null, undefined])
      assert.equal(snakeCase.convertObjToSnakeKeys(scalar), scalar);
  });

  for (const [source, converted] of [
    [{ _id: 1, id: 2 }, { id: 2 }],
    [{ id: 2, _id: 1 }, { id: 2 }],
    [{ fooBar: 1, FooBar: 2 }, { foo_bar: 1 }],
    [{ fooBar: [1e400], foo_bar: undefined, FooBar: { x: 1 } }, { foo_bar: undefined }],
  ]) {
    it(`keeps the key that has the name, else the first, and counts the others: ${Object.keys(source!).join(', ')}`, () => {
      const snakeCase = new SnakeCase();
      assert.deepEqual(snakeCase.convertObjToSnakeKeys(source), converted);
      assert.equal(snakeCase.collisions, Object.keys(source!).length - 1);
      assert.equal(snakeCase.droppedProtos, 0);
    });
  }

  it('keeps the keys of objects at a place that keeps them, and renames all others (S-75)', () => {
    const kept: KeyPlace = { keepsKeys: true, below: new Map() };
    const place: KeyPlace = { keepsKeys: false, below: new Map([['the_labels', kept]]) };
    const source = '{"theLabels":{"Ann.Lee@x.com":{"aB":1},"ann-lee@x.com":[{"aB":2}]},"aB":{"theLabels":{"cD":3}}}';
    const convert = (of: KeyPlace) => JSON.stringify(new SnakeCase().convertObjToSnakeKeys(JSON.parse(source), of));
    assert.equal(
      convert(place),
      '{"the_labels":{"Ann.Lee@x.com":{"aB":1},"ann-lee@x.com":[{"aB":2}]},"a_b":{"the_labels":{"c_d":3}}}',
    );
    assert.equal(convert(kept), source);
  });

  it('drops __proto__ of an object that keeps its keys, and makes numbers beyond a double null there (S-66)', () => {
    const snakeCase = new SnakeCase();
    const text =
      '{"aB":1,"__proto__":{"isAdmin":true},"in":[{"__proto__":1,"constructor":{"__proto__":2},"n":1e400,"toString":3}]}';
    const kept: KeyPlace = { keepsKeys: true, below: new Map() };
    const converted = snakeCase.convertObjToSnakeKeys(JSON.parse(text) as Record<string, unknown>, kept);
    assert.equal(JSON.stringify(converted), '{"aB":1,"in":[{"constructor":{},"n":null,"toString":3}]}');
    assert.equal(Object.getPrototypeOf(converted), Object.prototype);
    assert.equal(converted['isAdmin'], undefined);
    assert.deepEqual([snakeCase.droppedProtos, snakeCase.overflows, snakeCase.collisions], [3, 1, 0]);
  });

  it('drops __proto__ and counts it (S-66)', () => {
    const snakeCase = new SnakeCase();
    const source = JSON.parse('{"aB":1,"__proto__":{"isAdmin":true},"in":[{"__proto__":null}]}') as unknown;
    const converted = snakeCase.convertObjToSnakeKeys(source) as Record<string, unknown>;
    assert.deepEqual(Object.entries(converted), [
      ['a_b', 1],
      ['in', [{}]],
    ]);
    assert.equal(converted['isAdmin'], undefined);
    assert.equal(snakeCase.droppedProtos, 2);
    assert.equal(snakeCase.collisions, 0);
  });

  for (const key of ['_Proto__', '__PROTO__', '____proto____', 'Proto', '_proto_', '$__proto__', ' __proto__']) {
    it(`gives no prototype to an object with the key ${key} (S-67)`, () => {
      const source = JSON.parse(`{"${key}":{"isAdmin":true,"toString":null},"own":1}`) as unknown;
      const converted = new SnakeCase().convertObjToSnakeKeys(source) as Record<string, unknown>;
      assert.equal(Object.getPrototypeOf(converted), Object.prototype);
      assert.equal(converted['isAdmin'], undefined);
      assert.equal(converted['own'], 1);
      assert.equal(Object.keys(converted).length, 2);
      const logged: unknown = converted;
      assert.doesNotThrow(() => String(logged));
    });
  }

  const inherited = '{"constructor":{"prototype":{"x":1}},"__defineGetter__":1,"toString":1,"hasOwnProperty":1}';
  const inheritedConverted =
    '{"constructor":{"prototype":{"x":1}},"__defineGetter__":1,"to_string":1,"has_own_property":1}';

  it('makes inherited names own data properties (S-68)', () => {
    const converted = new SnakeCase().convertObjToSnakeKeys(JSON.parse(inherited)) as object;
    assert.equal(JSON.stringify(converted), inheritedConverted);
    assert.deepEqual(Object.getOwnPropertyDescriptor(converted, '__defineGetter__'), {
      value: 1,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  });

  it('makes inherited names own data properties when Object.prototype is frozen', async () => {
    const code = `
      import { SnakeCase } from '${import.meta.resolve('../../../src/kafka/decoding/snake-case.js')}';
      const snakeCase = new SnakeCase();
      Object.freeze(Object.prototype);
      console.log(JSON.stringify(snakeCase.convertObjToSnakeKeys(JSON.parse('${inherited}'))));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
    assert.equal(stdout.trim(), inheritedConverted);
  });

  it('keeps or counts every key of a random tree, keeps scalars, and changes no prototype', () => {
    const before = Reflect.ownKeys(Object.prototype).concat(Reflect.ownKeys(Array.prototype));
    fc.assert(
      fc.property(tree, (value) => {
        const snakeCase = new SnakeCase();
        const source = JSON.parse(JSON.stringify(value)) as Json;
        const kept = keyCount(source);
        const converted = snakeCase.convertObjToSnakeKeys(source);
        if (snakeCase.collisions + snakeCase.droppedProtos === 0) {
          assert.equal(keyCount(converted), kept);
          assert.deepEqual(converted, renamed(JSON.parse(JSON.stringify(value)) as Json));
        } else assert.ok(keyCount(converted) < kept);
        for (const container of containers(converted)) {
          const prototype = Array.isArray(container) ? Array.prototype : Object.prototype;
          assert.equal(Object.getPrototypeOf(container), prototype);
        }
      }),
      { numRuns: 1000 },
    );
    assert.deepEqual(Reflect.ownKeys(Object.prototype).concat(Reflect.ownKeys(Array.prototype)), before);
  });

  it('converts 1,000 levels and throws a RangeError beyond', () => {
    const nested = (levels: number) =>
      JSON.parse('[{"aB":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)) as unknown;
    assert.equal(
      JSON.stringify(new SnakeCase().convertObjToSnakeKeys(nested(1000))),
      JSON.stringify(nested(1000)).replaceAll('aB', 'a_b'),
    );
    assert.throws(() => new SnakeCase().convertObjToSnakeKeys(nested(1002)), {
      name: 'RangeError',
      message: 'snake_case: a value is nested deeper than 1000 levels',
    });
  });

  it('remembers at most 10,000 names, and no key of more than 64 characters (S-73)', () => {
    const snakeCase = new SnakeCase();
    for (let i = 0; i < 48_000; i++) {
      snakeCase.convertObjToSnakeKeys({ [`attackKey${i}`]: 1 });
      assert.ok(snakeCase.memoSize <= 10_000);
    }
    const { memoSize } = snakeCase;
    assert.deepEqual(snakeCase.convertObjToSnakeKeys({ [`longKey${'x'.repeat(58)}`]: 1 }), {
      [`long_key${'x'.repeat(58)}`]: 1,
    });
    assert.equal(snakeCase.memoSize, memoSize);
    snakeCase.convertObjToSnakeKeys({ [`lastKey${'x'.repeat(57)}`]: 1 });
    assert.equal(snakeCase.memoSize, memoSize + 1);
  });

  it('remembers a key in use during a flood of new keys', (t) => {
    const snakeCase = new SnakeCase();
    const misses = t.mock.method(lodash, 'snakeCase');
    snakeCase.convertObjToSnakeKeys({ usefulKey: 1 });
    for (let i = 0; i < 30_000; i++) {
      snakeCase.convertObjToSnakeKeys({ [`attackKey${i}`]: 1 });
      if (i % 1000 === 0) snakeCase.convertObjToSnakeKeys({ usefulKey: 1 });
    }
    const ofUsefulKey = misses.mock.calls.filter((call) => call.arguments[0] === 'usefulKey');
    assert.equal(ofUsefulKey.length, 1);
    assert.equal(misses.mock.callCount(), 30_001);
  });
});

/** The expected result for trees without colliding keys. */
function renamed(value: Json): Json {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== 'object' || value === null) return value;
  return parsed(Object.entries(value).map(([key, item]) => [expectedName(key), renamed(item)]));
}
