import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLScalarType, Kind, parse, parseValue, printType, validate } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { buildGraph } from '../../../src/graph/loading/build-graph.ts';

const TYPES = `
  type Subscription { row(n: BigInt): Row @kafka(topic: "t", match: [{ arg: "n", path: "n" }]) }
  type Row { n: BigInt long: Long }
  scalar BigInt
  scalar Long
  scalar Any`;

function schemaOf(sdl = TYPES, resolvers: Record<string, unknown> = {}): GraphQLSchema {
  const modules = new Map([['resolvers', { fileName: 'resolvers.js', exports: resolvers }]]);
  return buildGraph({ name: 'g', revision: '', schema: sdl, modules, warnings: [] }).schema;
}

const scalarOf = (schema: GraphQLSchema, name: string) => schema.getType(name) as GraphQLScalarType;
const defaultOf = (schema: GraphQLSchema, name: string) =>
  schema
    .getQueryType()!
    .getFields()
    ['q']!.args.find((arg) => arg.name === name)!.defaultValue;

describe('BigInt and Long', () => {
  const schema = schemaOf();
  const [bigInt, long] = [scalarOf(schema, 'BigInt'), scalarOf(schema, 'Long')];

  for (const [value, digits] of [
    [7, '7'],
    ['7', '7'],
    [-0, '0'],
    ['-0', '0'],
    [-12n, '-12'],
    ['9007199254740993', '9007199254740993'],
    [2 ** 53, '9007199254740992'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ] as const) {
    it(`are the text "${digits}" for ${typeof value} ${String(value)}`, () => {
      for (const scalar of [bigInt, long])
        assert.deepEqual([scalar.serialize(value), scalar.parseValue(value)], [digits, digits]);
    });
  }

  it('are read from literals with all digits', () => {
    for (const literal of ['9007199254740993', '"9007199254740993"'])
      assert.equal(long.parseLiteral(parseValue(literal)), '9007199254740993');
    assert.equal(bigInt.parseLiteral(parseValue('-0')), '0');
  });

  it('refuse what is no integer, and say what they expect', () => {
    for (const value of ['1.5', 1.5, '1e3', '', ' 7', '007', '+7', '0x7', Infinity, NaN, true, {}, [7]]) {
      for (const scalar of [bigInt, long]) {
        assert.throws(() => scalar.serialize(value), /^\w+ cannot represent .+: expected an integer of /);
        assert.throws(() => scalar.parseValue(value), /expected an integer of .+, such as "9007199254740993"$/);
      }
    }
    for (const literal of ['1.5', '1e3', 'true', 'X', '[7]', '{ a: 7 }'])
      assert.throws(() => bigInt.parseLiteral(parseValue(literal)), /^BigInt cannot represent /);
    assert.throws(() => bigInt.serialize(`${'1'.repeat(100)}x`), /"1{39}…: expected/);
  });

  it('differ in their bounds', () => {
    for (const beyond of ['9223372036854775808', '-9223372036854775809', '9'.repeat(400)]) {
      assert.throws(() => long.serialize(beyond), /Long cannot represent .*: expected an integer of 64 bits/);
      assert.equal(bigInt.serialize(beyond), beyond);
    }
    assert.equal(bigInt.serialize(1e22), `1${'0'.repeat(22)}`);
    assert.equal(bigInt.serialize(`-${'9'.repeat(1000)}`), `-${'9'.repeat(1000)}`);
    assert.throws(() => bigInt.serialize('9'.repeat(1001)), /expected an integer of at most 1,000 digits/);
  });

  it('tell clients what they are', () => {
    assert.equal(printType(long), '"""An integer of 64 bits, as text."""\nscalar Long');
    const [error] = validate(schema, parse('subscription { row(n: 1.5) { n } }'));
    assert.match(error!.message, /^BigInt cannot represent 1\.5: expected an integer of at most 1,000 digits/);
  });

  it("are the graph's own where it defines them", () => {
    const BigInt = new GraphQLScalarType({ name: 'BigInt', serialize: (value) => `own ${String(value)}` });
    const own = schemaOf(TYPES, { BigInt });
    assert.deepEqual([scalarOf(own, 'BigInt').serialize(7), scalarOf(own, 'Long').serialize(7)], ['own 7', '7']);
  });

  it('have defaults in the schema as in documents', () => {
    const sdl = `${TYPES}
      input In { n: BigInt = 5 m: [Long!] other: Any }
      type Query { q(n: BigInt = 9007199254740993, in: In = { m: [7] }, any: Any = { a: [9007199254740993, 1] }, list: [Long] = 3): Int }`;
    const schema = schemaOf(sdl);
    assert.equal(defaultOf(schema, 'n'), '9007199254740993');
    assert.deepEqual({ ...(defaultOf(schema, 'in') as object) }, { n: '5', m: ['7'] });
    assert.equal(JSON.stringify(defaultOf(schema, 'any')), '{"a":["9007199254740993",1]}');
    assert.deepEqual(defaultOf(schema, 'list'), ['3']);
    assert.throws(
      () => schemaOf(`${TYPES} type Query { q(n: BigInt = "x"): Int }`),
      /Query\.q\(n:\): the default value "x" does not fit the type BigInt/,
    );
  });
});

describe('literals of other scalars', () => {
  const literal = parseValue('{ id: 9007199254740993, list: [9007199254740993, 1.5, 0.10000000000000000001, 7] }');
  const exact = '{"id":"9007199254740993","list":["9007199254740993",1.5,"0.10000000000000000001",7]}';

  it('keep the digits that a double loses, as variables do', () => {
    assert.equal(JSON.stringify(scalarOf(schemaOf(), 'Any').parseLiteral(literal)), exact);
  });

  it('reach the `parseValue` of a scalar without a `parseLiteral` so, and that function as they are', () => {
    const Any = new GraphQLScalarType({ name: 'Any', parseValue: (value) => [value] });
    assert.equal(JSON.stringify(scalarOf(schemaOf(TYPES, { Any }), 'Any').parseLiteral(literal)), `[${exact}]`);
    const Read = new GraphQLScalarType({
      name: 'Any',
      parseValue: (value) => value,
      parseLiteral: (node) => (node.kind === Kind.INT ? node.value : undefined),
    });
    const { parseLiteral } = scalarOf(schemaOf(TYPES, { Any: Read }), 'Any');
    assert.equal(parseLiteral(parseValue('9007199254740993')), '9007199254740993');
  });
});
