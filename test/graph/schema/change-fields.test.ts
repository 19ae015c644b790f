import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeDemands } from '../../../src/graph/change-demands.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { attachChangeFields } from '../../../src/graph/schema/change-fields.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../../../src/graph/schema/schema.ts';
import { stateSignatures } from '../../../src/graph/state/state-signature.ts';

const TYPES = `
  scalar Date
  enum Op { CREATE UPDATE DELETE READ TRUNCATE }
  type Subscription { row: Row @kafka(topic: "t", envelope: DEBEZIUM, tombstone: SKIP) }`;

function parse(sdl: string, resolved = '') {
  const { schema, problems } = buildGraphSchema(sdl, 'schema.graphql');
  assert.deepEqual(problems, []);
  const type = schema.getType('Row');
  if (resolved && type && 'getFields' in type) Object.assign(type.getFields()[resolved]!, { resolve: () => 1 });
  const mistakes = attachChangeFields(schema);
  const parsed = parseBindings(schema, new Set());
  return { ...parsed, schema, problems: [...mistakes, ...parsed.problems] };
}

describe('@change', () => {
  it('fills fields whose types can hold the value', () => {
    const { problems } = parse(`type Row {
      a: String @change(field: OP) b: ID! @change(field: OP) c: Op! @change(field: OP) d: Row @change(field: BEFORE)
      e: String @change(field: SOURCE_TIMESTAMP) f: Float @change(field: SOURCE_TIMESTAMP) g: Date @change(field: SOURCE_TIMESTAMP)
      h: ID @change(field: TRANSACTION) i: Date @change(field: TRANSACTION) j: Boolean! @change(field: SNAPSHOT)
    } ${TYPES}`);
    assert.deepEqual(problems, []);
  });

  it('is not seen by clients', () => {
    const seen = withoutOwnDefinitions(parse(`type Row { a: String @change(field: OP) } ${TYPES}`).schema);
    assert.deepEqual([seen.getDirective('change'), seen.getType('KafkaChangeField')], [undefined, undefined]);
  });

  const mistakes: [title: string, row: string, problem: RegExp][] = [
    ['another part', 'type Row { a: String @change(field: "OP") }', /field must be one of OP, BEFORE, .*SNAPSHOT, without quotes; got "OP"/],
    ['an Int for OP', 'type Row { a: Int @change(field: OP) }', /OP does not fit the type Int; use String, ID, or an enum of CREATE, UPDATE, DELETE, READ/],
    ['an enum without READ', 'enum Small { CREATE UPDATE DELETE } type Row { a: Small @change(field: OP) }', /OP does not fit the type Small; use String, or add READ to the enum/],
    ['a scalar for BEFORE', 'type Row { a: Date @change(field: BEFORE) }', /BEFORE does not fit the type Date; use an object type/],
    ['a list for BEFORE', 'type Row { a: [Row] @change(field: BEFORE) }', /BEFORE does not fit the type \[Row\]/],
    ['an Int for a time', 'type Row { a: Int @change(field: SOURCE_TIMESTAMP) }', /use one of String, Float, a custom scalar/],
    ['a text for SNAPSHOT', 'type Row { a: String @change(field: SNAPSHOT) }', /SNAPSHOT does not fit the type String; use Boolean/],
    ['an interface', 'interface Row { a: String @change(field: OP) }', /is on an interface; put @change on the same field of its object types/],
    ['a root type', 'type Row { id: ID } type Query { a: String @change(field: OP) }', /Query\.a: @change is on a field of Query/],
  ]; // prettier-ignore
  for (const [title, row, problem] of mistakes) {
    it(`stops the start with ${title}`, () => {
      const { problems } = parse(`${row} ${TYPES}`);
      assert.match(problems[0]!, problem);
      assert.match(problems[0]!, /^schema.graphql:1: \w+\.a: @change /);
    });
  }

  it('stops the start with a field that has a resolver', () => {
    const { problems } = parse(`type Row { a: String @change(field: OP) } ${TYPES}`, 'a');
    assert.match(problems[0]!, /is on a field that has a resolver; remove one of them/);
  });

  it('stops the start on a type that no field with an envelope reaches', () => {
    const { problems } = parse(
      'type Row { a: String @change(field: OP) } type Subscription { row: Row @kafka(topic: "t") }',
    );
    assert.deepEqual(problems, [
      'schema.graphql:1: Row.a: @change is on a type that no field with an envelope reaches; remove it, or add envelope to the @kafka of a field that returns the type',
    ]);
  });

  it('reads the keys of rows before, like those of rows', () => {
    const before = 'type Row { id: ID was: Was @change(field: BEFORE) } type Was { itemName: String }';
    assert.match(
      parse(`${before} ${TYPES}`).problems[0]!,
      /Was.itemName: would always be null, .*rename it to "item_name"/,
    );
    const { shapes } = parse('type Row { id: ID was: Was @change(field: BEFORE) } type Was { extra: Date }' + TYPES);
    assert.deepEqual([...shapes.get('t')!.at('extra').kinds], ['custom']);
  });
});

describe('what the changes of a topic must have', () => {
  const NOTHING = { before: false, sourceTimestamp: false, transaction: false, isSnapshot: false };
  const demandOf = (row: string, args: string, field = 'row: Row') => {
    const { bindings, problems } = parse(
      `type Row { id: ID ${row} } type Subscription { ${field} @kafka(topic: "t", envelope: DEBEZIUM, ${args}) plain: ID @kafka(topic: "u") }`,
    );
    assert.deepEqual(problems, []);
    const demands = changeDemands(bindings.values());
    assert.deepEqual([...demands.keys()], ['t']);
    return demands.get('t');
  };
  const FILTER = 'where: [{ arg: "id", path: "id", op: EQ }]';

  it('is what fields with @change, filters and ROW read', () => {
    assert.deepEqual(demandOf('', 'tombstone: NULL'), NOTHING);
    assert.deepEqual(demandOf('a: String @change(field: OP)', 'tombstone: NULL'), NOTHING);
    assert.deepEqual(demandOf('', 'tombstone: ROW'), { ...NOTHING, before: true });
    assert.deepEqual(demandOf('', `tombstone: NULL, ${FILTER}`, 'row(id: ID): Row'), { ...NOTHING, before: true });
    assert.deepEqual(demandOf('', `tombstone: SKIP, ${FILTER}`, 'row(id: ID): Row'), NOTHING);
    assert.deepEqual(demandOf('a: Row @change(field: BEFORE)', 'tombstone: SKIP'), { ...NOTHING, before: true });
    assert.deepEqual(
      demandOf(
        'a: Float @change(field: SOURCE_TIMESTAMP) b: ID @change(field: TRANSACTION) c: Boolean @change(field: SNAPSHOT)',
        'tombstone: SKIP',
      ),
      { before: false, sourceTimestamp: true, transaction: true, isSnapshot: true },
    );
  });

  it('fills states again when it changes, as they keep it', () => {
    const signature = (row: string) => {
      const { bindings } = parse(
        `type Row { id: ID ${row} } type Subscription { row: Row @kafka(topic: "t", envelope: DEBEZIUM, state: {}, tombstone: SKIP) }`,
      );
      return stateSignatures(bindings.values(), []).get('t');
    };
    assert.notEqual(signature(''), signature('a: ID @change(field: TRANSACTION)'));
    assert.equal(signature(''), signature('a: ID @change(field: OP)'));
  });
});
