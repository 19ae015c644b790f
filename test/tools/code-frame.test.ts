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
    '1 | type Subscription {\n2 |   order: Ordr\n  |          ^\n3 |   n: Int @kafka(topic: "n")',
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

it('points at the value that a problem quotes, of the argument that it names, also on a later line', async (t) => {
  const schema = `type Subscription {
  a(orderId: ID!): Order @kafka(topic: "a", match: [{ arg: "orderId", path: "orderId" }])
  b(id: ID!): Order
    @kafka(
      topic: "b"
      match: [{ arg: "id", path: "order.idd" }]
    )
  c: Order
}
`;
  const folder = await graphFolder(t, { 'schema.graphql': schema });
  const caretOf = (problem: string) => {
    const lines = framed([problem], folder)[2]!.split('\n');
    const at = lines.findIndex((line) => /^ *\| *\^$/.test(line));
    return lines[at - 1]!.slice(lines[at]!.indexOf('^'));
  };
  assert.equal(caretOf('schema.graphql:2: Subscription.a: path "orderId" leads to no field'), '"orderId" }])');
  assert.equal(caretOf('schema.graphql:4: Subscription.b: path "order.idd" leads to no field'), '"order.idd" }]');
  assert.equal(caretOf('schema.graphql:2: Unknown directive "@kafka"; did you mean "a"?').slice(0, 7), '@kafka(');
  assert.equal(caretOf('schema.graphql:8: Subscription.c: has no "resolver"'), 'c: Order');
});
