import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { crier } from './crier.ts';

const SCHEMA = `type Subscription {
  order_updated(order_id: ID!, min: Int): Order
    @kafka(
      topic: "orders"
      match: [{ arg: "order_id", path: "order.order_id" }]
      where: [{ arg: "min", path: "order.total", op: GTE }]
      payload: "order"
      history: {}
      tombstone: COMPLETE
    )
  typing(room: ID!): Order @redis(channel: "typing.{room}")
}
type Order { order_id: ID!, total: Int }
`;

describe('crier check', { concurrency: 2 }, () => {
  it('explains where the events of each field come from, and what it found', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA });
    const { code, output, errors } = await crier(t, ['check', folder]);
    assert.equal(errors, '');
    assert.equal(code, 0);
    const expected = [
      'order_updated',
      '  from topic orders, at "order" of its records',
      '  one channel for each order_id = "order.order_id"',
      '  only where "order.total" GTE min',
      '  keeps the last 300 events of a channel, for clients that resume',
      '  a record without a value completes the subscription',
      '  try: subscription { order_updated(order_id: "1") { order_id total } }',
      '',
      'typing',
      '  from the Redis channel typing.{room}',
      '  try: subscription { typing(room: "1") { order_id total } }',
    ];
    assert.deepEqual(output.split('\n').slice(0, expected.length), expected);
    assert.match(output, /^ok +graph: ".*" with 2 subscription fields$/m);
  });

  it('exits with 1 and names each mistake of the graph', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA.replace('"order.total"', '"order.totl"') });
    const { code, output } = await crier(t, ['check', folder]);
    assert.equal(code, 1);
    assert.match(output, /^failed +schema\.graphql:\d+: Subscription\.order_updated: .*totl/m);
  });
});
