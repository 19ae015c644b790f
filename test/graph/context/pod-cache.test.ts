import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../support/graph-folder.ts';
import { crier } from '../../gateway/websocket/crier.ts';
import { watch } from '../../support/stock-client.ts';

/** The context.ts that the page shows. */
const EXAMPLE = /^### A cache across events$[^]*?^```ts$\n([^]*?)^```$/m.exec(
  readFileSync('docs/why/story.md', 'utf8'),
)![1]!;

const SCHEMA = `
  type Subscription { order_updated: Order @kafka(topic: "orders") }
  type Order { order_id: Int! venue: Venue }
  type Venue { name: String! requests: Int! }`;

const RESOLVERS = `
  export const Order = { venue: ({ venue_id }, _, { loaders }) => loaders.venue_by_id.load(venue_id) };`;

/** Each order is at the same venue. The backend counts its requests. */
const SAMPLES = `
  let requests = 0;
  export function* records() {
    for (let orderId = 1; ; orderId++) yield { topic: 'orders', value: { orderId, venueId: 'V-1' } };
  }
  export function respond() {
    requests++;
    return { 'V-1': { name: 'Hall', requests } };
  }`;

/** The venues of three events. */
async function venuesOf(t: TestContext, context: string): Promise<unknown[]> {
  const files = { 'schema.graphql': SCHEMA, 'resolvers.ts': RESOLVERS, 'samples.ts': SAMPLES, 'context.ts': context };
  const GRAPH = await graphFolder(t, files);
  const target = await crier.start({ GRAPH, SAMPLE_INTERVAL_MS: '20' });
  t.after(() => target.close());
  const subscription = watch(t, target.url, 'subscription { order_updated { order_id venue { name requests } } }');
  await subscription.event(3);
  return subscription.events
    .slice(0, 3)
    .map((one) => (one as { order_updated: { venue: unknown } }).order_updated.venue);
}

describe('the cache across events of docs/why/story.md', () => {
  it('lets one backend request serve later events', async (t) => {
    const venue = { name: 'Hall', requests: 1 };
    assert.deepEqual(await venuesOf(t, EXAMPLE), [venue, venue, venue]);
  });

  it('is what saves the requests: without it each event sends one', async (t) => {
    const context = EXAMPLE.replace('{ cacheMap: venues }', '{}');
    assert.notEqual(context, EXAMPLE);
    assert.deepEqual(
      await venuesOf(t, context),
      [1, 2, 3].map((requests) => ({ name: 'Hall', requests })),
    );
  });
});
