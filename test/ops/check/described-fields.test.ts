import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeFields } from '../../../src/ops/check/described-fields.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';

describe('describeFields', () => {
  it('names the values by which a field has channels, those of claims, too', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `
        type Subscription {
          all: Order @kafka(topic: "orders")
          mine: Order @kafka(topic: "orders", where: [{ claim: "tenant", path: "tenant" }])
          one(id: ID!): Order
            @kafka(topic: "orders", match: [{ arg: "id", path: "id" }], where: [{ claim: "tenant", path: "tenant" }])
        }
        type Order { id: ID! tenant: ID }`,
    });
    const lines = describeFields(await loadGraph(folder)).split('\n');
    assert.deepEqual(
      lines.filter((line) => line.includes('channel')),
      [
        '  one channel: every record',
        '  one channel for each value of "tenant"',
        '  one channel for each id = "id" and value of "tenant"',
      ],
    );
    assert.equal(
      lines.filter((line) => line === '  only where "tenant" is the claim "tenant" of the connection').length,
      2,
    );
  });
});
