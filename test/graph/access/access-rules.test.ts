import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isObjectType } from 'graphql';
import { parseAccessRules } from '../../../src/graph/access/access-rules.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';

function parse(sdl: string) {
  const { schema, problems } = buildGraphSchema(
    `${sdl}\ntype Subscription { s: Int @kafka(topic: "t") }`,
    'schema.graphql',
  );
  const rules = parseAccessRules(schema);
  const nameOf = (coordinate: string) => {
    const [typeName, fieldName] = coordinate.split('.') as [string, string | undefined];
    const type = schema.getType(typeName);
    assert.ok(isObjectType(type));
    return (fieldName === undefined ? rules.types.get(type) : rules.fields.get(type.getFields()[fieldName]!))?.name;
  };
  return { problems: [...problems, ...rules.problems], nameOf };
}

describe('the access rules of a schema', () => {
  it('apply to a field, with those of its type', () => {
    const { nameOf, problems } = parse(`
      type Query { open: Open a: Int @authenticated b: Secret c: [Secret!]! @requiresScopes(scopes: [["c"]]) d: Level e: Hidden }
      type Open { id: ID }
      type Secret @requiresScopes(scopes: [["s"]]) { id: ID }
      enum Level @authenticated { HIGH }
      scalar Hidden
      extend scalar Hidden @requiresScopes(scopes: [["h"]])`);
    assert.deepEqual(problems, []);
    assert.deepEqual(
      ['Query.open', 'Query.a', 'Query.b', 'Query.c', 'Query.d', 'Query.e', 'Open.id', 'Secret.id', 'Secret'].map(
        nameOf,
      ),
      [
        undefined,
        '@authenticated',
        '@requiresScopes(scopes: [["s"]])',
        '@requiresScopes(scopes: [["c"]]) @requiresScopes(scopes: [["s"]])',
        '@authenticated',
        '@requiresScopes(scopes: [["h"]])',
        undefined,
        undefined,
        '@requiresScopes(scopes: [["s"]])',
      ],
    );
  });

  it('apply to all fields of a root type, and to implementations of an interface', () => {
    const { nameOf, problems } = parse(`
      type Query @authenticated { node: Node post: Post }
      interface Node @requiresScopes(scopes: [["node"]]) { id: ID title: String @requiresScopes(scopes: [["title"]]) }
      type Post implements Node { id: ID title: String }
      extend type Query { more: Int }`);
    assert.deepEqual(problems, []);
    const node = '@requiresScopes(scopes: [["node"]])';
    assert.deepEqual(['Query.node', 'Query.post', 'Query.more', 'Post', 'Post.id', 'Post.title'].map(nameOf), [
      node,
      node,
      '@authenticated',
      node,
      undefined,
      '@requiresScopes(scopes: [["title"]])',
    ]);
  });

  it('replace definitions that the SDL holds for editors', () => {
    const { nameOf, problems } = parse(`
      directive @authenticated on FIELD_DEFINITION
      directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION
      type Query { a: Int @authenticated }`);
    assert.deepEqual(problems, []);
    assert.equal(nameOf('Query.a'), '@authenticated');
  });

  const mistakes: readonly (readonly [string, RegExp])[] = [
    ['@requiresScopes(scopes: [])', /Query\.a: @requiresScopes: scopes is empty, so nobody could pass; name a scope/],
    ['@requiresScopes(scopes: [[]])', /an empty list of scopes is met by everybody; remove it, or use @authenticated/],
    ['@requiresScopes(scopes: [["a"], []])', /an empty list of scopes is met by everybody/],
    ['@requiresScopes(scopes: ["a", "b"])', /scopes must be a list of lists, such as \[\["read:orders"\]\]/],
    ['@requiresScopes(scopes: "a")', /scopes must be a list of lists/],
    ['@requiresScopes(scopes: null)', /scopes must be a list of lists/],
    ['@requiresScopes(scopes: [[5]])', /each scope must be a string in quotes/],
    ['@requiresScopes(scopes: [[""]])', /the scope "" can never be granted/],
    [
      '@requiresScopes(scopes: [["a b"]])',
      /the scope "a b" can never be granted, because scopes have no spaces; write one/,
    ],
    ['@requiresScopes', /argument "(scopes|@requiresScopes\(scopes:\))" of type "\[\[String!\]!\]!" is required/i],
    ['@authenticated(if: true)', /Unknown argument "if"/],
    ['@authenticated @authenticated', /can only be used once/],
  ];
  for (const [directive, expected] of mistakes) {
    it(`name the line, the place and the fix of ${directive}`, () => {
      const { problems } = parse(`type Query {\n  a: Int ${directive}\n}`);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0]!, /^schema\.graphql:2: /);
      assert.match(problems[0]!, expected);
    });
  }

  it('name a place where a directive is not checked, and those where it is', () => {
    for (const sdl of [
      'type Query { a: One }\nunion One @authenticated = Two type Two { a: Int }',
      'type Query { a(b: Int\n @authenticated): Int }',
      'type Query { a(b: In): Int } input In {\n b: Int @requiresScopes(scopes: [["a"]]) }',
    ]) {
      const { problems } = parse(sdl);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(
        problems[0]!,
        /^schema\.graphql:2: Directive "@\w+" may not be used on \w+; put it on a field, an object type, an interface, a scalar or an enum$/,
      );
    }
  });

  it('report a mistake on an interface once, whatever implements it', () => {
    const { problems } = parse(`type Query { a: A b: B }
      interface I { id: ID @requiresScopes(scopes: []) }
      type A implements I { id: ID } type B implements I { id: ID }`);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0]!, /^schema\.graphql:2: I\.id: /);
  });
});
