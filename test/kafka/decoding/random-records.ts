import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TopicRouter } from '../../../src/graph/router.ts';
import { KeyTree } from '../../../src/kafka/decoding/key-tree.ts';
import type { KeyPlace } from '../../../src/base/json/key-place.ts';
import { decodeRecord } from '../../../src/kafka/decoding/record.ts';
import type { RecordLimits } from '../../../src/kafka/decoding/record.ts';
import { KeyRewriter } from '../../../src/kafka/decoding/key-rewriter.ts';
import { SnakeCase } from '../../../src/kafka/decoding/snake-case.ts';

export const LIMITS = { maxBytes: 1_048_576, maxDepth: 64 };
const PATHS = ['a', 'a.b_c', 'b_c.a.a', 'b_c.fooBar', 'bC.aB', '__typename', 'constructor', 'd_é'];
const match = PATHS.map((path) => ({ arg: path, path, isOptional: true }));
/** Paths at which only the presence of a value matters. */
const PRESENCES = [['b_c'], ['foo_bar'], ['b_c', 'a']];
const router = new TopicRouter(
  't',
  PRESENCES.map((payload) => ({ field: payload.join(), topics: ['t'], match, where: [], payload, isShared: true })),
  '',
);

const kept: KeyPlace = { keepsKeys: true, below: new Map() };
const below = new Map<string, KeyPlace>([['b_c', kept]]);
const looped: KeyPlace = { keepsKeys: false, below };
below.set('a', looped);

/** No object keeps its keys; the objects below `b_c`, also of `a.a`, do; all do. */
export const PLACES: readonly (KeyPlace | undefined)[] = [undefined, looped, kept];

interface Outcome {
  readonly text: string;
  readonly values: readonly (string | undefined)[];
}

/** The result of parsing, renaming and printing; undefined: the record is poison. */
export function expected(record: Buffer, limits: RecordLimits, place?: KeyPlace): Outcome | undefined {
  const decoded = decodeRecord(record, limits);
  if (decoded.poison !== undefined) return undefined;
  const payload = new SnakeCase().convertObjToSnakeKeys(decoded.payload, place);
  return { text: JSON.stringify(payload), values: router.valuesIn(payload) };
}

/** Rewrites records of one topic, one after another. */
export function createRewriting(limits: RecordLimits = LIMITS, place?: KeyPlace) {
  const rewriter = new KeyRewriter(limits);
  const tree = new KeyTree(router.paths, router.firstPresence, place);
  return {
    tree,
    rewrite: (record: Buffer | string): Outcome | undefined => {
      const values = rewriter.rewrite(Buffer.from(record as string), tree);
      return values && { text: String(rewriter.payload()), values };
    },
  };
}

export const LONGEST_KEY = 'aB'.repeat(32);

const key = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('a', 'bC', 'd_é', 'aB', 'fooBar', '__typename', 'constructor', 'x y', '€') },
  { weight: 2, arbitrary: fc.constantFrom('b_c', 'a_b', 'A', 'toString', '', '$', LONGEST_KEY, 'Ab"', 'd\u0001') },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', '12', '0', '$1', '01', `${LONGEST_KEY}c`, '\ud800') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 70 }) },
);

const number = fc.oneof(
  fc.integer().map(String),
  fc.double().map((value) => JSON.stringify(value)),
  // Numbers whose digits a double loses.
  fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 4n }).map(String),
  fc.tuple(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.nat()).map((parts) => parts.join('.')),
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

/** A string as JSON: as JSON.stringify prints it, or with unnecessary escapes. */
const string = fc.tuple(text, fc.constantFrom(0, 0, 1, 2)).map(([value, way]) => {
  if (way === 0) return JSON.stringify(value);
  if (way === 1) return JSON.stringify(value).replaceAll('/', '\\/');
  const units = Array.from({ length: value.length }, (_, i) => value.charCodeAt(i).toString(16).padStart(4, '0'));
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
});

const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t', '\r\n', ' \n \t ');

/** JSON text of an object as any producer may write it: with repeated keys and white space between tokens. */
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

/** A record: an object, sometimes broken or with bytes around it. */
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

/** Each of a topic's records is rewritten to the result of the parsing path, or declined. `onRecord` counts them. */
export function rewritingProperty(onRecord: (isGood: boolean, isRewritten: boolean) => void = () => undefined) {
  const records = fc.array(record, { minLength: 1, maxLength: 8 });
  return fc.property(records, fc.integer({ min: 1, max: 8 }), fc.constantFrom(...PLACES), (texts, maxDepth, place) => {
    const limits = { maxBytes: 400, maxDepth };
    const { rewrite } = createRewriting(limits, place);
    for (const text of texts) {
      const wanted = expected(Buffer.from(text), limits, place);
      const outcome = rewrite(text);
      onRecord(wanted !== undefined, outcome !== undefined);
      if (outcome) assert.deepEqual(outcome, wanted, text);
    }
  });
}
