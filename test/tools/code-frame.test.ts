import assert from 'node:assert/strict';
import { it } from 'node:test';
import { framed } from '../../src/tools/code-frame.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';

const SCHEMA = 'type Subscription {\n  order: Ordr\n  n: Int @kafka(topic: "n")\n}\n';

it('shows the place of each problem of a graph, once', async (t) => {
  const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
  assert.deepEqual(framed(['schema.graphql:2: Unknown type "Ordr".', 'schema.graphql:3:6: Syntax Error'], folder), [
    'schema.graphql:2: Unknown type "Ordr".',
    '',
    '1 | type Subscription {\n2 |   order: Ordr\n  |   ^\n3 |   n: Int @kafka(topic: "n")',
    '',
    'schema.graphql:3:6: Syntax Error',
    '',
    '2 |   order: Ordr\n3 |   n: Int @kafka(topic: "n")\n  |      ^\n4 | }',
    '',
  ]);
  const others = [
    'resolvers.ts:1: Unexpected token',
    '',
    '> 1 | export const {',
    'gone.ts:1: away',
    'Query.n: no line',
  ];
  assert.deepEqual(framed(others, folder), others);
});
