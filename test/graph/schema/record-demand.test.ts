import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partsDemands } from '../../../src/graph/parts-demands.ts';
import { parseBindings } from '../../../src/graph/schema/bindings.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';
import { stateSignatures } from '../../../src/graph/state/state-signature.ts';

function parse(sdl: string) {
  const { schema, problems } = buildGraphSchema(sdl, 'schema.graphql');
  assert.deepEqual(problems, []);
  return parseBindings(schema, new Set());
}

const bindingsOf = (sdl: string) => {
  const { bindings, problems } = parse(sdl);
  assert.deepEqual(problems, []);
  return [...bindings.values()];
};

describe('the record of a @kafka', () => {
  it('is what its messages carry of the key and headers, and nothing if it is left out', () => {
    const [all, none] = bindingsOf(`type Subscription {
      a: String @kafka(topic: "a", record: { key: true, headers: ["tenant", "origin", "tenant"] })
      b: String @kafka(topic: "b")
    }`);
    assert.deepEqual(all!.record, { key: true, headers: ['tenant', 'origin'] });
    assert.ok(!('record' in none!));
  });

  it('has what @record reads on any type that the field reaches, and no more', () => {
    const [direct, other, none] = bindingsOf(`
      type Subscription {
        a: [A!] @kafka(topic: "a", record: { headers: "x" })
        b: Node @kafka(topic: "b")
        c: C @kafka(topic: "c")
      }
      interface Node { id: ID }
      type A implements Node { id: ID  b: B }
      type B { key: ID @record(field: KEY) a: [A] u: U }
      union U = C | D
      type C { at: String @record(field: TIMESTAMP) }
      type D { tenant: String! @record(field: HEADER, name: "tenant") }`);
    assert.deepEqual(direct!.record, { key: true, headers: ['x', 'tenant'] });
    assert.deepEqual(other!.record, { key: true, headers: ['tenant'] });
    assert.equal(none!.record, undefined);
  });

  it('is joined for each topic', () => {
    const demands = partsDemands(
      bindingsOf(`type Subscription {
        a: String @kafka(topics: ["t", "u"], record: { key: true })
        b: String @kafka(topic: "t", record: { headers: ["a"] })
        c: String @kafka(topic: "v")
      }`),
    );
    assert.deepEqual(
      [...demands],
      [
        ['t', { key: true, headers: ['a'] }],
        ['u', { key: true, headers: [] }],
      ],
    );
  });

  it('decides, with that of other fields of the topic, which states are kept', () => {
    const signatureOf = (state: string, other: string) =>
      stateSignatures(
        bindingsOf(`type Subscription {
          a: String @kafka(topic: "t", state: {} ${state})
          b: String @kafka(topic: "t" ${other})
        }`),
        [],
      ).get('t');
    const plain = signatureOf('', '');
    const headers = signatureOf('record: { headers: ["a", "b"] }', '');
    assert.notEqual(headers, plain);
    assert.equal(signatureOf('', 'record: { headers: ["b", "a"] }'), headers);
    assert.notEqual(signatureOf('record: { headers: ["a", "b"] }', 'record: { key: true }'), headers);
  });

  const mistakes: [title: string, record: string, problem: RegExp][] = [
    ['text', '"key"', /record must be an object such as { key: true, headers: \["tenant"\] }/],
    ['an unknown part', '{ key: true, offset: true }', /record has no "offset"; use key and headers/],
    ['a key in quotes', '{ key: "true", headers: ["a"] }', /record\.key must be true or false, without quotes/],
    ['a header without quotes', '{ headers: [tenant, "a"] }', /record\.headers must be names in quotes/],
    ['an empty name', '{ headers: ["", "a"] }', /record\.headers must be names in quotes/],
    ['nothing in it', '{}', /record asks for nothing; write what resolvers read, such as/],
    ['nothing but false', '{ key: false }', /record asks for nothing/],
  ];
  for (const [title, record, problem] of mistakes) {
    it(`stops the start with ${title}`, () => {
      const { problems } = parse(`type Subscription { a: String @kafka(topic: "t", record: ${record}) }`);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, problem);
      assert.match(problems[0]!, /^schema.graphql:1: Subscription\.a: /);
    });
  }
});
