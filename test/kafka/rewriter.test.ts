import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TopicRouter } from '../../src/graph/router.ts';
import { MAX_LEARNT, MAX_LEARNT_OF_RECORD, Places } from '../../src/kafka/places.ts';
import { decodeRecord } from '../../src/kafka/record.ts';
import type { RecordLimits } from '../../src/kafka/record.ts';
import { Rewriter } from '../../src/kafka/rewriter.ts';
import { SnakeCase } from '../../src/kafka/snake-case.ts';

const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };
const PATHS = ['a', 'a.b_c', 'b_c.a.a', '__typename', 'constructor', 'd_é'];
const match = PATHS.map((path) => ({ arg: path, path, isOptional: true }));
/** Payloads of which it matters only whether they are there. */
const PRESENCES = [['b_c'], ['foo_bar'], ['b_c', 'a']];
const router = new TopicRouter(
  't',
  PRESENCES.map((payload) => ({ field: payload.join(), topic: 't', match, payload, isShared: true })),
  '',
);

interface Outcome {
  readonly text: string;
  readonly values: readonly (string | undefined)[];
}

/** What a record is by parsing, renaming and printing. */
function expected(record: Buffer, limits: RecordLimits): Outcome | undefined {
  const decoded = decodeRecord(record, limits);
  if (decoded.poison !== undefined) return undefined;
  const payload = new SnakeCase().convert(decoded.payload);
  return { text: JSON.stringify(payload), values: router.valuesIn(payload) };
}

/** Rewrites records one after another, as one topic's. */
function createRewriting(limits: RecordLimits = LIMITS) {
  const rewriter = new Rewriter(limits);
  const places = new Places(router.paths, router.firstPresence);
  return {
    places,
    rewrite: (record: Buffer | string): Outcome | undefined => {
      const values = rewriter.rewrite(Buffer.from(record as string), places);
      return values && { text: rewriter.text(), values };
    },
  };
}

const LONGEST_KEY = 'aB'.repeat(32);

const key = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'bC', 'd_é', 'aB', 'fooBar', '__typename', 'constructor', 'x y', '€') },
  { weight: 2, arbitrary: fc.constantFrom('b_c', 'a_b', 'A', 'toString', '', '$', LONGEST_KEY, 'Ab"', 'd\u0001') },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', '12', '0', '$1', '01', `${LONGEST_KEY}c`, '\ud800') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 70 }) },
);

const number = fc.oneof(
  fc.integer().map(String),
  fc.double().map((value) => JSON.stringify(value)),
  fc.constantFrom('-0', '0.0', '1.0', '1.50', '1e3', '1E+400', '-1e-400', '0.0000001', '12345678901234567890', '1e21'),
);

const text = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'bc',
    'bcd',
    'a\\b',
    'quote "x"',
    'line\n',
    'tab\t',
    '\u0001',
    'é',
    '€',
    '😀',
    '\ud83d',
    '/',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

/** A string as JSON: as it is printed, or with escapes that are not needed. */
const string = fc.tuple(text, fc.constantFrom(0, 0, 1, 2)).map(([value, way]) => {
  if (way === 0) return JSON.stringify(value);
  if (way === 1) return JSON.stringify(value).replaceAll('/', '\\/');
  const units = Array.from({ length: value.length }, (_, i) => value.charCodeAt(i).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
});

const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t', '\r\n', ' \n \t ');

/** JSON text of objects as somebody may write them: keys may be there twice, and tokens have white space between them. */
const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 2, arbitrary: fc.constantFrom('null', 'true', 'false') },
    { weight: 2, arbitrary: number },
    { weight: 2, arbitrary: string },
    { weight: 3, arbitrary: tie('object') },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
        .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
    },
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 6 }), space, fc.boolean())
    .map(([pairs, gap, isUnique]) => {
      const some = isUnique ? [...new Map(pairs)] : pairs;
      const members = some.map(([name, value]) => `${JSON.stringify(name)}:${gap}${value}`);
      return `{${gap}${members.join(`${gap},${gap}`)}${gap}}`;
    }),
}));

/** Some of them broken, or with something around them. */
const record = fc.oneof(
  { weight: 12, arbitrary: object },
  { weight: 1, arbitrary: fc.tuple(space, object, space).map((parts) => parts.join('')) },
  {
    weight: 1,
    arbitrary: fc.tuple(object, fc.constantFrom('{}', 'x', '\u0000', ',', ']')).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: object.map((one) => one.replace(':', ' :')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[]', '7', '"a"', 'null', '', ' ', '\ufeff{}', '{', '{"a"', '{"a":', '{"a":1,}'),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        object,
        fc.nat(),
        fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '.', 'e', '\n', '\u0000'),
      )
      .map(([one, at, character]) => one.slice(0, at % one.length) + character + one.slice((at % one.length) + 1)),
  },
);

describe('Rewriter', () => {
  it('comes to the text and the values that parsing comes to, or declines', () => {
    let good = 0;
    let rewritten = 0;
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 8 }),
        (records, maxDepth) => {
          const limits = { maxBytes: 400, maxDepth };
          const { rewrite } = createRewriting(limits);
          for (const one of records) {
            const wanted = expected(Buffer.from(one), limits);
            const outcome = rewrite(one);
            if (wanted) good++;
            if (!outcome) continue;
            rewritten++;
            assert.deepEqual(outcome, wanted, one);
          }
        },
      ),
      { numRuns: 3000 },
    );
    assert.ok(rewritten > good / 3, `only ${rewritten} of ${good} were rewritten`);
  });

  it('never throws on bytes of any kind', () => {
    const { rewrite } = createRewriting();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        assert.equal(rewrite(Buffer.from(bytes)), undefined);
        const inside = Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')]);
        const outcome = rewrite(inside);
        if (outcome) assert.deepEqual(outcome, expected(inside, LIMITS));
      }),
      { numRuns: 2000 },
    );
  });

  it('rewrites the records of the load test, also pretty-printed, with optional keys left out and with other text', async () => {
    const { rewrite } = createRewriting();
    const recorded = await readFile('loadtest/records/auction.json', 'utf8');
    const { auction } = JSON.parse(recorded) as { auction: Record<string, unknown> };
    const variants = [recorded, JSON.stringify({ auction }), recorded.replaceAll('"ONLINE"', '"Müller €\\n\\u00e9"')];
    const names = Object.keys(auction);
    for (let i = 0; i < names.length; i++) {
      const some = Object.fromEntries(
        names.filter((_, at) => (at * 7) % 11 !== i % 11).map((name) => [name, auction[name]]),
      );
      variants.push(JSON.stringify({ auction: some }));
    }
    // Its keys are more than are learnt of one record.
    for (let i = 0; i < 8; i++) rewrite(recorded);
    for (const variant of variants)
      assert.deepEqual(rewrite(variant), expected(Buffer.from(variant), LIMITS) ?? variant);
  });

  for (const [what, json] of [
    ['white space anywhere but before a colon', ' {\n "a": 1 ,\t"bC": [ 1 , { } , [ ] ] }\r\n'],
    ['numbers that are printed in another way', '{"a":1.0,"bC":-0,"x":[1e3,0.0000001,12345678901234567890]}'],
    ['escapes that are not needed', '{"a":"\\u00e9\\/","bC":"\\ud83d\\ude00 \\ud83d","x":"\\u0001"}'],
    ['names that objects inherit', '{"constructor":"x","toString":1,"__typename":"Y"}'],
    ['keys in any script', '{"größe":1,"日本":2,"😀":3}'],
    ['one key at different places', '{"a":{"a":{"a":1}},"bC":{"a":{"a":7}}}'],
    ['values of all kinds where a path leads', '{"a":{"bC":true},"bC":[{"a":{"a":1}}],"__typename":null}'],
    ['an object that has no keys', '{}'],
  ] as const) {
    it(`rewrites ${what}`, () => {
      const { rewrite } = createRewriting();
      assert.deepEqual(rewrite(json), expected(Buffer.from(json), LIMITS));
    });
  }

  for (const [what, json] of [
    ['a key that is there twice', '{"a":1,"a":2}'],
    ['two keys with one name', '{"bC":1,"b_c":2}'],
    ['a number beyond a double', '{"a":[1e999]}'],
    ['__proto__', '{"a":{"__proto__":1}}'],
    ['keys that objects have first', '{"b":1,"12":2}'],
    ['keys whose names objects have first', '{"b":1,"$12":2}'],
    ['keys with escapes', '{"\\u0061":1}'],
    ['a key too long to be remembered', `{"${LONGEST_KEY}c":1}`],
    ['what is no object', '[{"a":1}]'],
    ['what has something behind it', '{"a":1}{}'],
    ['what is not JSON', '{"a":01}'],
    ['what is nested too deep', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['more than 256 KB', `{"a":"${'x'.repeat(256 * 1024)}"}`],
    ['a string without an end', '{"a":"\\'],
  ] as const) {
    it(`declines ${what}, and goes on with the next record`, () => {
      const { rewrite } = createRewriting();
      assert.equal(rewrite(json), undefined);
      assert.deepEqual(rewrite('{"aB":1}')?.text, '{"a_b":1}');
    });
  }

  it('takes objects of one place as different ones', () => {
    const json = '{"x":[{"bC":1},{"b_c":2},[{"bC":3}],{"bC":{"bC":4}}]}';
    const { rewrite } = createRewriting();
    assert.equal(rewrite(json)?.text, json.replaceAll('bC', 'b_c'));
  });

  it('has room for the largest text, whatever becomes of it', () => {
    const { rewrite } = createRewriting();
    for (const item of [
      '1e20',
      '1.0',
      '"\\/"',
      '{"aBcD":1}',
      '{"ABCDEFGHIJKLMNOPQRSTUVWXYZ":1e20}',
      '{"İİİİİİİİİİİİ":0}',
    ]) {
      const json = `{"a":[${Array.from({ length: Math.floor((256 * 1024 - 8) / (Buffer.byteLength(item) + 1)) }, () => item).join()}]}`;
      const outcome = rewrite(json);
      if (outcome) assert.equal(outcome.text, expected(Buffer.from(json), LIMITS)?.text);
    }
  });

  it('follows as many levels as a record may have', () => {
    const limits = { ...LIMITS, maxDepth: 1000 };
    const { rewrite } = createRewriting(limits);
    const json = '{"a":'.repeat(999) + '{}' + '}'.repeat(999);
    // A key of each level is learnt, some in each record.
    for (let i = 0; i < 300; i++) rewrite(json);
    assert.equal(rewrite(json)?.text, json);
    assert.equal(rewrite(`{"a":${json}}`), undefined);
  });

  it('learns no more than so much of a record, and remembers no more than so much', () => {
    const { rewrite, places } = createRewriting();
    const flood = (from: number) => `{${Array.from({ length: 100_000 }, (_, i) => `"k${from + i}":0`).join()}}`;
    assert.equal(rewrite(flood(0).slice(0, 250_000) + '":0}'), undefined);
    assert.equal(places.size, MAX_LEARNT_OF_RECORD);
    let most = 0;
    for (let i = 0; i < MAX_LEARNT; i++) {
      const json = `{"keyOne":1,"x${i}":[],"y${i}":{"zA":${i}}}`;
      assert.equal(rewrite(json)?.text, expected(Buffer.from(json), LIMITS)?.text);
      most = Math.max(most, places.size);
    }
    assert.ok(most <= MAX_LEARNT && most > MAX_LEARNT / 2, `${most}`);
  });
});
