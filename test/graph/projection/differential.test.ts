import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { getIntrospectionQuery } from 'graphql';
import { auction, compare, documentProperty, lot } from '../support/random-documents.ts';

const payloads: Record<string, unknown> = {
  'a full payload': { auction, node: lot, event: auction, events: [auction, lot] },
  'a payload of nulls': { auction: null, node: null, event: null, events: null },
  'an empty payload': {},
  'violated non-nulls': {
    auction: {
      id: null,
      count: null,
      strict_tags: null,
      strict_matrix: [[1, null], [2]],
      lots: [lot, null],
      tags: ['a', null],
      self: null,
    },
    node: { id: null, lot_no: 1 },
    event: { kind: 'Lot' },
    events: [lot, null],
  },
  'wrong types': {
    auction: {
      id: {},
      title: [],
      count: 'x',
      price: 'y',
      is_open: 'z',
      status: 'NOPE',
      day: 'no',
      matrix: 5,
      tags: 'abc',
      lots: {},
      lot: 'text',
      self: 5,
      ints: [1.5, 'a', 2],
    },
    node: 'text',
    event: { kind: 'Nope' },
    events: {},
  },
  'types that cannot be told': {
    auction: { ...auction, event: { kind: 'throw' } },
    event: { kind: 'throw' },
    events: [lot, { kind: 'promise' }, { kind: 5 }],
  },
  'inherited names': {
    auction: JSON.parse(
      '{"id":1,"count":1,"constructor":{"prototype":{"x":1}},"toString":1,"hasOwnProperty":1,"valueOf":1,"length":"x"}',
    ) as unknown,
  },
  'a list for an object': { auction: [1, 2], node: [], event: [lot] },
};

const A = 'subscription { auction(id: 7) {';
const documents: readonly (string | [query: string, ...variables: Record<string, unknown>[]])[] = [
  `${A} id title count } }`,
  `${A} a: id b: id title t2: title __typename tn: __typename } }`,
  `${A} price is_open status day } }`,
  `${A} matrix strict_matrix tags strict_tags ints } }`,
  `${A} lots { id title lot_no } maybe_lots { id auction { id title } } } }`,
  `${A} lot { auction { id lots { id } } } parent { parent { id } } self { id self { id } } } }`,
  `${A} self { strict_tags count self { count } } } }`,
  `${A} seller { name nick rating late lazy method friends { name nick friends { name } } } } }`,
  `${A} seller_async { name nick late lazy method(x: 5) friends { late lazy } } } }`,
  `${A} id seller_required { name } title } }`,
  `${A} sellers { name nick } } }`,
  `${A} sellers_async { name nick late } } }`,
  `${A} fails title } }`,
  `${A} fails_async title fails } }`,
  `${A} fails_graphql fails_string returns_error } }`,
  `${A} fails_nothing } }`,
  `${A} id fails_required title } }`,
  `${A} self { fails_required } title } }`,
  `${A} lots { auction { fails_async fails_required } } title } }`,
  `${A} broken_day day } }`,
  `${A} promised_list generated broken_list } }`,
  `${A} self { promised_list seller_async { name } } } }`,
  `${A} info_path alias: info_path self { info_path } } }`,
  `${A} constructor toString length } }`,
  `${A} union_async { __typename ... on Lot { lot_no } ... on Auction { count } } } }`,
  `${A} echo } }`,
  `${A} a: echo(x: "literal") b: echo(y: 7, z: CLOSED) c: echo(y: null, x: null) } }`,
  `${A} echo(f: { a: 1, c: [1, 2], n: { b: "x", s: CLOSED } }, l: [1, 2, 3]) } }`,
  `${A} echo(l: 5, f: { c: 7 }) } }`,
  `${A} echo(d: "x") } }`,
  `${A} a: writes b: writes(f: {}, p: {}) c: writes(p: { q: { id: 1 } }, l: 7) } }`,
  ['subscription($p: Plain) { auction(id: 1) { writes(p: $p) } }', {}, { p: {} }, { p: { t: [3] } }],
  `${A} a: echo(x: """block "quoted" \\ text""") b: echo(x: "\\u005f\\n\\"$") } }`,
  'subscription { strict { id title } }',
  'subscription { strict { count seller_required { name } } }',
  'subscription { whole { auction { id title } events { __typename } node { id } } }',
  'subscription { whole { events { ... on Auction { id count } ... on Lot { id lot_no } } } }',
  'subscription { node { id title __typename } }',
  'subscription { node { ... on Lot { lot_no } ... on Auction { count tags } title } }',
  'subscription { node { ...N } } fragment N on Node { id ... on Auction { title lots { id } } ... on Lot { title lot_no } }',
  'subscription { event { __typename ... on Node { id title } } }',
  'subscription { event { ... on Auction { seller { name } title } ... on Lot { lot_no auction { seller_async { name } } } } }',
  'subscription { events { ... on Auction { id seller_async { name } } ... on Lot { lot_no } } }',
  'subscription { events { __typename ... on Auction { union_async { ... on Lot { id } } } } }',
  'subscription { doubled }',
  'subscription { alias: doubled }',
  'subscription Named { auction(id: 1) { ...A } } fragment A on Auction { id lot { ...L } } fragment L on Lot { id title }',
  'subscription { auction(id: 1) { ...A ...B } } fragment A on Auction { lot { id } } fragment B on Auction { lot { title id } title }',
  'subscription { auction(id: 1) { lot { ...L } lots { ...L } self { lot { ...L } } } } fragment L on Lot { id title lot_no }',
  'subscription { auction(id: 1) { lot { id } lot { title } ... { lot { lot_no } } } }',
  [
    'subscription($x: Boolean!) { auction(id: 1) { id @skip(if: $x) title @include(if: $x) count } }',
    { x: true },
    { x: false },
  ],
  [
    'subscription($x: Boolean!, $y: Boolean!) { auction(id: 1) { id title @skip(if: $x) @include(if: $y) } }',
    { x: true, y: true },
    { x: false, y: true },
    { x: false, y: false },
  ],
  [
    'subscription($x: Boolean!) { auction(id: 1) { ... @include(if: $x) { id lot { id } } lot { title @skip(if: $x) } } }',
    { x: true },
    { x: false },
  ],
  [
    'subscription($x: Boolean!, $y: Boolean!) { auction(id: 1) { ... @include(if: $x) { lot { id ... @skip(if: $y) { title } } } } }',
    { x: true, y: true },
    { x: true, y: false },
    { x: false, y: false },
  ],
  [
    'subscription($x: Boolean!) { auction(id: 1) { ...A @skip(if: $x) ...A } } fragment A on Auction { id title }',
    { x: true },
    { x: false },
  ],
  [
    'subscription($x: Boolean!) { auction(id: 1) { ...A @include(if: $x) } } fragment A on Auction { id lot { id @skip(if: $x) title } }',
    { x: true },
    { x: false },
  ],
  [
    'subscription($x: Boolean!) { auction(id: 1) { lot { id @include(if: $x) } lot { id } seller @skip(if: $x) { name } } }',
    { x: true },
    { x: false },
  ],
  ['subscription($x: Boolean = true) { auction(id: 1) { id @skip(if: $x) title } }', {}, { x: false }],
  [
    'subscription($x: Boolean!) { auction(id: 1) { fails_required @include(if: $x) seller_async @skip(if: $x) { name } title } }',
    { x: true },
    { x: false },
  ],
  [
    'subscription($x: String) { auction(id: 1) { echo(x: $x) } }',
    {},
    { x: null },
    { x: 'v' },
    { x: 5 },
    { x: '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8' },
  ],
  [
    'subscription($y: Int) { auction(id: 1) { echo(y: $y) } }',
    {},
    { y: null },
    { y: 3 },
    { y: 3.5 },
    { y: 2 ** 40 },
    { y: '3' },
  ],
  ['subscription($y: Int = 4) { auction(id: 1) { echo(y: $y) } }', {}, { y: null }, { y: 3 }],
  ['subscription($z: Status) { auction(id: 1) { echo(z: $z) } }', {}, { z: null }, { z: 'CLOSED' }, { z: 'NOPE' }],
  [
    'subscription($f: Filter) { auction(id: 1) { echo(f: $f) } }',
    {},
    { f: {} },
    { f: { a: 1, b: null, c: 5, n: { n: { a: 2 } } } },
    { f: { q: 1 } },
    { f: { c: [1, null] } },
    { f: 5 },
    { f: [] },
  ],
  [
    'subscription($p: Plain) { auction(id: 1) { echo(p: $p) } }',
    {},
    { p: {} },
    { p: { a: null, b: 'x', q: {} } },
    { p: { q: { m: [[1, null], 5], id: 7 } } },
    { p: { b: [null] } },
    { p: { s: null } },
    { p: { c: 5, s: 'OPEN' } },
  ],
  ['subscription($f: Filter = { a: 3, c: 4 }) { auction(id: 1) { echo(f: $f) } }', {}, { f: { s: 'OPEN' } }],
  [
    'subscription($a: Int, $c: [Int!]) { auction(id: 1) { echo(f: { a: $a, c: $c, n: { a: $a } }) } }',
    {},
    { a: 1 },
    { a: null, c: null },
    { c: [1] },
  ],
  [
    'subscription($l: [Int!]) { auction(id: 1) { echo(l: $l) } }',
    {},
    { l: null },
    { l: 5 },
    { l: [1, 2] },
    { l: [null] },
    { l: [] },
  ],
  ['subscription($d: Day) { auction(id: 1) { echo(d: $d) } }', {}, { d: null }, { d: 'x' }, { d: { deep: 1 } }],
  ['subscription($d: Day = "x") { auction(id: 1) { echo(d: $d) } }', {}, { d: 'y' }],
  [
    'subscription($id: ID!) { auction(id: $id) { id } }',
    { id: 7 },
    { id: '7' },
    {},
    { id: null },
    { id: 1.5 },
    { id: true },
  ],
  [
    'subscription($constructor: Day, $toString: String) { auction(id: 1) { echo(d: $constructor, x: $toString) } }',
    {},
    { constructor: 1 },
  ],
  'subscription { auction(id: 1) { __proto__: title toString: id constructor: count valueOf: seller { hasOwnProperty: name } } }',
  'subscription { auction(id: 1) { a_b: self { c: info_path } a: self { b_c: info_path } b_c: self { a: info_path } } }',
  'query { auction { id seller { name } fails } }',
  ['subscription($c: Boolean = true) { auction(id: 1) { id self { title @include(if: $c) } } }', {}, { c: null }],
  ['subscription($c: Boolean = false) { auction(id: 1) { id lot { title @skip(if: $c) } } }', {}, { c: null }],
  [
    'subscription($__proto__: Boolean!) { auction(id: 1) { id title @include(if: $__proto__) } }',
    JSON.parse('{"__proto__":true}') as Record<string, unknown>,
  ],
  ['query($x: String, $y: Int) { echo(x: $x, y: $y) }', {}, { x: 'a', y: 1 }, { y: 'a' }],
  'query { __typename crier a: echo }',
  '{ __type(name: "Auction") { name fields { name type { name } } } auction { id } }',
  getIntrospectionQuery(),
];

describe('graphql-jit and graphql-js', () => {
  let compiled = 0;
  for (const [name, payload] of Object.entries(payloads)) {
    it(`give one result for ${documents.length} documents on ${name}`, async () => {
      for (const entry of documents) {
        const [query, ...variables] = typeof entry === 'string' ? [entry] : entry;
        for (const values of variables.length > 0 ? variables : [undefined]) {
          if (await compare(query, payload, values)) compiled++;
        }
      }
    });
  }

  it('give one result for documents with locations, which errors name', async () => {
    for (const entry of documents) {
      const [query, variables] = typeof entry === 'string' ? [entry] : entry;
      await compare(query, payloads['a full payload'], variables, true);
    }
  });

  it('were compared on more than 300 compiled operations', () => assert.ok(compiled > 300, String(compiled)));

  it('give one result for random documents', async () => {
    await fc.assert(documentProperty(), {
      numRuns: 200,
      interruptAfterTimeLimit: 30_000,
      markInterruptAsFailure: false,
    });
  });
});
