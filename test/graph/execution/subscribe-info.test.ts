import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Kind, parse, subscribe } from 'graphql';
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { Operation } from '../../../src/graph/documents/operation.ts';
import { subscribeInfo } from '../../../src/graph/execution/subscribe-info.ts';
import { subscriptionArguments } from '../../../src/graph/execution/subscription-arguments.ts';
import { buildGraphSchema } from '../../../src/graph/schema/schema.ts';

const SDL = `
  type Query { a: Int }
  schema { query: Query subscription: Live }
  type Live { said(room: ID!, filter: Filter): Message! }
  input Filter { words: [String!] = ["all"] limit: Int }
  type Message { text: String by: User }
  type User { name: String }
`;

/** What graphql-js passes to `subscribe`, and what crier passes. */
async function infosOf(query: string, variables: Record<string, unknown>) {
  const { schema, problems } = buildGraphSchema(SDL, 'schema.graphql');
  assert.deepEqual(problems, []);
  let theirs: GraphQLResolveInfo | undefined;
  const field = (schema.getSubscriptionType() as GraphQLObjectType).getFields()['said']!;
  field.subscribe = (_source, _args, _context, info) => {
    theirs = info;
    return (async function* () {})();
  };
  const document = parse(query);
  await subscribe({ schema, document, variableValues: variables });
  const definition = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
  const operation = new Operation({ key: '', document, bytes: 0 }, definition);
  const selected = subscriptionArguments(schema, operation, variables);
  assert.ok(theirs && 'field' in selected);
  return { theirs, ours: subscribeInfo(schema, operation, selected, undefined) };
}

describe('the info of a `subscribe`', () => {
  for (const [title, query, variables] of [
    ['one field', 'subscription { said(room: "a") { text } }', {}],
    ['an alias and a name', 'subscription Chat { heard: said(room: "a") { text } }', {}],
    [
      'variables with defaults, and one too many',
      'subscription ($room: ID!, $filter: Filter = { limit: 3 }, $gone: Int) { said(room: $room, filter: $filter) { text } }',
      { room: 7, more: 1 },
    ],
    [
      'fragments around and below the field',
      `subscription ($room: ID!) { ...Root ... on Live { said(room: $room) { by { name } } } }
       fragment Root on Live { said(room: $room) { ...Text } }
       fragment Text on Message { text }`,
      { room: 'a' },
    ],
  ] as const) {
    it(`has every member that graphql-js passes, for ${title}`, async () => {
      const { theirs, ours } = await infosOf(query, variables);
      assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort());
      for (const name of ['schema', 'parentType', 'returnType'] as const) assert.equal(ours[name], theirs[name], name);
      for (const name of ['fieldName', 'fieldNodes', 'path', 'rootValue', 'operation', 'variableValues'] as const) {
        assert.deepEqual(ours[name], theirs[name], name);
      }
      assert.deepEqual({ ...ours.fragments }, { ...theirs.fragments });
    });
  }
});
