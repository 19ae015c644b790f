import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { execute, parse } from 'graphql';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../support/graph-folder.ts';

const SCHEMA = `
  type Subscription { item: Item @kafka(topic: "t") }
  type Item { part: Part any: [Any] }
  interface Part { name: String }
  type Wheel implements Part { name: String }
  type Door implements Part { name: String }
  union Any = Wheel | Door`;

async function errorsOf(t: TestContext, rootValue: object, resolvers = ''): Promise<(string | undefined)[]> {
  const { schema } = await loadGraph(await graphFolder(t, { 'schema.graphql': SCHEMA, 'resolvers.ts': resolvers }));
  const document = parse('subscription { item { part { name } any { ... on Door { name } } } }');
  const { errors } = await execute({ schema, document, rootValue });
  return (errors ?? []).map(({ originalError }) => originalError?.message);
}

describe('typeNameResolver', () => {
  it('takes the __typename of the value where the graph has no __resolveType', async (t) => {
    const wheel = { __typename: 'Wheel', name: 'w' };
    assert.deepEqual(await errorsOf(t, { part: wheel, any: [wheel, { __typename: 'Door' }] }), []);
  });

  it('names the field, the type, the possible types and both fixes where a value says no type', async (t) => {
    const [part, any] = await errorsOf(t, { part: { name: 'w' }, any: [{ __typename: 'Window' }] });
    assert.equal(
      part,
      'Item.part: the type of a value of the interface Part is unknown; write a "__typename" into the record (Wheel, Door), or write ' +
        'export const Part = { __resolveType(value) { … } } in resolvers.ts; its "__typename" is undefined',
    );
    assert.match(
      any!,
      /^Item\.any: the type of a value of the union Any is unknown; .*; its "__typename" is "Window"$/,
    );
  });

  it('names the field and what __resolveType returned where it is no possible type', async (t) => {
    const resolvers = `
      export const Part = { __resolveType: () => 'Window' };
      export const Any = { __resolveType: async () => 'Door' };`;
    assert.deepEqual(await errorsOf(t, { part: {}, any: [{}] }, resolvers), [
      'Item.part: Part.__resolveType must return, without a promise, one of: Wheel, Door; it returned "Window"',
      'Item.any: Any.__resolveType must return, without a promise, one of: Wheel, Door; it returned a promise',
    ]);
  });
});
