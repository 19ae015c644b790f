import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { buildSchema, execute, introspectionFromSchema, parse } from 'graphql';
import { GraphError } from '../../../src/base/errors.ts';
import { DocumentReader, TRUSTED_LIMITS } from '../../../src/graph/documents/document-reader.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../support/graph-folder.ts';

const URL = 'https://specs.apollo.dev/federation/v2.3';
const LINK = `extend schema @link(url: "${URL}", import: ["@key", "@shareable", "@requires", "@external", "@provides"])`;
const SUBSCRIPTION = 'type Subscription { order_updated: Order @kafka(topic: "t", payload: "order") }';

async function sdlOf(t: TestContext, text: string): Promise<string> {
  const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
  const { data } = await execute({ schema, document: parse('{ _service { sdl } }') });
  return (data as { _service: { sdl: string } })._service.sdl;
}

async function refusal(t: TestContext, text: string, resolvers = ''): Promise<string> {
  const files = { 'schema.graphql': text, ...(resolvers && { 'resolvers.js': resolvers }) };
  const error: unknown = await loadGraph(await graphFolder(t, files)).then(
    () => assert.fail('the graph was accepted'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GraphError, String(error));
  return error.message;
}

describe('_service', () => {
  it('has the directives of federation, and neither those of crier nor the Query type that crier adds', async (t) => {
    const sdl = await sdlOf(
      t,
      `${LINK}
      extend schema @crier(keys: KEEP)
      directive @kafka(topic: String!, payload: String) on FIELD_DEFINITION
      directive @key(fields: federation__FieldSet!, resolvable: Boolean = true) repeatable on OBJECT
      scalar federation__FieldSet
      "An order."
      type Order @key(fields: "id") @authenticated { id: ID! at: String @shareable @record(field: TIMESTAMP) }
      ${SUBSCRIPTION}`,
    );
    assert.equal(
      sdl,
      `${LINK}

"An order."
type Order @key(fields: "id") {
  id: ID!
  at: String @shareable
}

type Subscription {
  order_updated: Order
}`,
    );
  });

  it('keeps @authenticated and @requiresScopes where the schema imports them for the router', async (t) => {
    const link = `extend schema @link(url: "${URL.replace('2.3', '2.5')}", import: ["@key", "@authenticated"])`;
    const order =
      'type Order @key(fields: "id") @authenticated { id: ID! total: Int @requiresScopes(scopes: [["a"]]) }';
    const sdl = await sdlOf(t, `${link} ${order} ${SUBSCRIPTION}`);
    assert.match(sdl, /type Order @key\(fields: "id"\) @authenticated/);
    assert.doesNotMatch(sdl, /requiresScopes/);
  });

  it('knows directives by the names that the schema gives them, and types that the schema only extends', async (t) => {
    const link = `extend schema @link(url: "${URL}", as: "fed", import: [{ name: "@key", as: "@primaryKey" }])`;
    const text = `${link} ${SUBSCRIPTION}
      extend type Order @primaryKey(fields: "id") { id: ID! @fed__shareable @fed__tag(name: "x") }
      extend type Query { order: Order @fed__override(from: "orders") }`;
    const sdl = await sdlOf(t, text);
    assert.match(
      sdl,
      /extend type Order @primaryKey\(fields: "id"\) {\n {2}id: ID! @fed__shareable @fed__tag\(name: "x"\)/,
    );
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
    assert.deepEqual(Object.keys(schema.getQueryType()!.getFields()), ['order', '_service', '_entities']);
  });

  it('does not exist where the schema does not link federation; clients never see the directives', async (t) => {
    const plain = await loadGraph(await graphFolder(t, { 'schema.graphql': `type Order { id: ID } ${SUBSCRIPTION}` }));
    assert.deepEqual(Object.keys(plain.schema.getQueryType()!.getFields()), ['crier']);
    const text = `${LINK} type Order { id: ID } ${SUBSCRIPTION}`;
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
    assert.deepEqual(Object.keys(schema.getQueryType()!.getFields()), ['crier', '_service']);
    assert.doesNotMatch(JSON.stringify(introspectionFromSchema(schema)), /kafka|shareable|link__|FieldSet/i);
  });

  it('is refused where clients may not read the schema', async (t) => {
    const text = `${LINK} type Order @key(fields: "id") { id: ID } ${SUBSCRIPTION}`;
    const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': text }));
    const read = (query: string, hasIntrospection: boolean) =>
      new DocumentReader(schema, { hasIntrospection }).read(query, TRUSTED_LIMITS);
    assert.ok(!('errors' in read('{ _service { sdl } }', true)));
    const refused = read('{ a: _service { sdl } }', false);
    assert.ok('errors' in refused);
    assert.match(refused.errors[0]!.message, /"_service" is disabled like introspection/);
    assert.ok(!('errors' in read('{ _entities(representations: []) { __typename } }', false)));
  });

  it('leaves a type of the graph alone whose name is that of a directive', async (t) => {
    const sdl = await sdlOf(t, `${LINK} type Order { id: ID tag: tag } type tag { key: ID } ${SUBSCRIPTION}`);
    buildSchema(sdl.replace(/extend schema.*/, ''));
    assert.match(sdl, /type tag {/);
  });
});

describe('a subgraph that cannot work', () => {
  const order = 'type Order @key(fields: "id") { id: ID! total: Int owner: Owner } type Owner { id: ID }';
  const cases: [title: string, schema: string, message: RegExp, resolvers?: string][] = [
    [
      'uses @key without a link',
      `type Order @key(fields: "id") { id: ID } ${SUBSCRIPTION}`,
      /^schema\.graphql:1: Unknown directive "@key"; a subgraph links federation first: extend schema @link\(url: /m,
    ],
    [
      'uses what it does not import',
      `${LINK} ${order} ${SUBSCRIPTION} extend type Order @tag(name: "x")`,
      /^schema\.graphql:1: Unknown directive "@tag"; import "@tag" in the @link of federation, or write @federation__tag$/,
    ],
    [
      'links federation 1',
      `extend schema @link(url: "https://specs.apollo.dev/federation/v1.0") ${order} ${SUBSCRIPTION}`,
      /^schema\.graphql:1: @link: "https:\/\/specs\.apollo\.dev\/federation\/v1\.0" is no version that crier has; write one of v2/,
    ],
    [
      'links it twice',
      `${LINK}\nextend schema @link(url: "${URL}")\n${order} ${SUBSCRIPTION}`,
      /^schema\.graphql:2: @link: links federation a second time; remove it$/,
    ],
    [
      'misspells an import',
      `extend schema @link(url: "${URL}", import: ["@key", "@sharable"]) ${order} ${SUBSCRIPTION}`,
      /@link: imports "@sharable", which crier does not have; did you mean "@shareable"\?/,
    ],
    [
      'forgets the @ of an import',
      `extend schema @link(url: "${URL}", import: ["@key", "tag"]) ${order} ${SUBSCRIPTION}`,
      /@link: imports "tag", which crier does not have; write "@tag"/,
    ],
    [
      'imports what crier does not enforce',
      `extend schema @link(url: "${URL}", import: ["@key", "@policy"]) ${order} ${SUBSCRIPTION}`,
      /@link: imports "@policy", which crier does not have; it has @key, /,
    ],
    [
      'renames @authenticated',
      `extend schema @link(url: "${URL}", import: ["@key", { name: "@authenticated", as: "@auth" }]) ${order} ${SUBSCRIPTION}`,
      /@link: imports "@authenticated" as "@auth", which crier would not enforce; import it under its own name/,
    ],
    [
      'names a field that does not exist',
      `${LINK}\ntype Order @key(fields: "idd") { id: ID! } ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Order: @key: fields "idd": Order has no field "idd"; did you mean "id"\?$/,
    ],
    [
      'names an object without its fields',
      `${LINK}\n${order.replace('"id"', '"owner"')} ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Order: @key: fields "owner": Order\.owner is of type Owner; select fields of it, such as "owner { … }"$/,
    ],
    [
      'names fields of a scalar',
      `${LINK}\n${order.replace('"id"', '"id { x }"')} ${SUBSCRIPTION}`,
      /Order\.id is of type ID, which has no fields; write "id"$/,
    ],
    [
      'has no field set',
      `${LINK}\n${order.replace('"id"', '"id } { total"')} ${SUBSCRIPTION}`,
      /@key: fields "id } { total" is no field set; write names with spaces between/,
    ],
    [
      'has a list for a field set',
      `${LINK}\n${order.replace('"id"', '["id"]')} ${SUBSCRIPTION}`,
      /@key: fields must be a text in quotes, such as "id"$/,
    ],
    [
      'requires and provides what is not there',
      `${LINK}\n${order} ${SUBSCRIPTION}\nextend type Order { a: Int @requires(fields: "weight") b: Owner @provides(fields: "name") }`,
      /^schema\.graphql:3: Order\.a: @requires: fields "weight": Order has no field "weight"\nschema\.graphql:3: Order\.b: @provides: fields "name": Owner has no field "name"$/,
    ],
    [
      'has a __resolveReference without federation',
      `type Order { id: ID } ${SUBSCRIPTION}`,
      /^Order\.__resolveReference: the schema does not link federation, so nothing calls it; add extend schema/,
      'export const Order = { __resolveReference() {} }',
    ],
    [
      'has a __resolveReference without a key',
      `${LINK} type Order { id: ID } ${SUBSCRIPTION}`,
      /^Order\.__resolveReference: the type has no @key that this subgraph resolves/,
      'export const Order = { __resolveReference() {} }',
    ],
    [
      'has a __resolveReference that is none',
      `${LINK} ${order} ${SUBSCRIPTION}`,
      /^resolvers\.js: Order\.__resolveReference must be a function$/,
      'export const Order = { __resolveReference: 1 }',
    ],
    [
      'would let __authorize decide about what a client writes',
      `${LINK}\n${order} ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Order: Order\.__authorize would decide about a representation, which the client writes; export Order\.__resolveReference/,
      'export const Order = { __authorize: () => true }',
    ],
    [
      'would let authorize of a field decide about what a client writes',
      `${LINK}\n${order} ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Order: authorize of Order\.total would decide about a representation/,
      'export const Order = { total: { authorize: () => true } }',
    ],
    [
      'would let __authorize decide about an object within what a client writes',
      `${LINK}\n${order.replace('"id"', '"owner { id }"')} ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Order: Owner\.__authorize would decide about a representation, which the client writes; export Order\.__resolveReference/,
      'export const Owner = { __authorize: () => true }',
    ],
    [
      'would let authorize of a field decide about one of several types within it',
      `${LINK}\n${order.replace('"id"', '"party { ... on Owner { id } }"')} ${SUBSCRIPTION}\nunion Party = Owner extend type Order { party: Party }`,
      /^schema\.graphql:2: Order: authorize of Owner\.id would decide about a representation/,
      'export const Owner = { id: { authorize: () => true } }',
    ],
    [
      'has an interface with a key and no __resolveReference',
      `${LINK}\ninterface Node @key(fields: "id") { id: ID! } type Order implements Node @key(fields: "id") { id: ID! } ${SUBSCRIPTION}`,
      /^schema\.graphql:2: Node: is an interface with a key, so a representation does not say which type it is; export Node\.__resolveReference/,
    ],
  ];
  for (const [title, schema, message, resolvers] of cases) {
    it(`is refused with its fix when it ${title}`, async (t) => {
      assert.match(await refusal(t, schema, resolvers), message);
    });
  }
});
