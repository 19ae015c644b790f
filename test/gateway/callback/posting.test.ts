import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { MAX_POSTS } from '../../../src/gateway/callback/callback-origin.ts';
import { switches } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startRedisGateway } from '../websocket/redis-gateway.ts';
import { CallbackRouter } from './callback-router.ts';
import type { CallbackSubscription } from './callback-router.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }], history: {})
    }
    type Thing { id: ID seq: Int text: String }
  `,
};
const QUERY = 'subscription { thing(id: 1) { seq text } }';
const CHANNEL = 'things{id="1"}';

interface Result {
  readonly data: { readonly thing: { readonly seq: number } };
  readonly extensions: { readonly cursor: string; readonly resumed?: boolean };
}

const seqsOf = ({ payloads }: CallbackSubscription) => payloads.map((payload) => (payload as Result).data.thing.seq);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

/** A gateway on a Redis, and a router to which it may post. */
async function start(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const { router, ...gateway } = await CallbackRouter.beside(t, (url) =>
    startRedisGateway(t, { graph: GRAPH, settings: { CALLBACK_URLS: url, ...settings } }),
  );
  let seq = 0;
  const publish = async (count: number, text = '') => {
    for (let i = 0; i < count; i++)
      await gateway.worker.publish(CHANNEL, { id: 1, seq: ++seq, text }, HISTORY_DEFAULTS);
  };
  const subscribe = async (options: object = {}) => {
    const { status, subscription } = await router.subscribe(gateway.endpoint, QUERY, options);
    assert.equal(status, 200);
    return subscription;
  };
  return { router, publish, subscribe, ...gateway };
}

describe('posts of events', () => {
  it('reach 300 subscribers of a router, in order, from one execution, over a bounded number of connections', async (t) => {
    const { router, publish, subscribe, metric, counts } = await start(t);
    const subscriptions = await Promise.all(upTo(300).map(() => subscribe()));
    await counts('crier_operations', 300);
    await publish(5);
    await waitFor('all posts', () => subscriptions.every(({ payloads }) => payloads.length === 5), 30_000);
    for (const one of subscriptions) {
      assert.deepEqual(seqsOf(one), upTo(5));
      assert.deepEqual(one.payloads, subscriptions[0]!.payloads);
    }
    if (switches.SHARING) assert.equal(await metric('crier_executions_total'), 5);
    assert.equal(router.maxAtOnce, 1);
    assert.ok(router.maxInFlight <= MAX_POSTS, `${router.maxInFlight} posts at once`);
    assert.ok(router.maxConnections <= MAX_POSTS, `${router.maxConnections} connections`);
    assert.equal(await metric('crier_deliveries_total'), 1500);
  });

  it('are repeated while the router answers 503 or closes its connections, and stay in order', async (t) => {
    const { router, publish, subscribe, hasChannel } = await start(t);
    const subscription = await subscribe();
    await hasChannel(CHANNEL);
    let failures = 0;
    router.answer = ({ action }) => (action === 'next' && failures++ % 3 < 2 ? 503 : undefined);
    await publish(4);
    await subscription.next(4);
    assert.deepEqual(seqsOf(subscription), upTo(4));
    assert.equal(router.posts.filter(({ action }) => action === 'next').length, 12);
    assert.equal(router.maxAtOnce, 1);
    const { port } = router;
    router.close();
    await publish(2);
    const restarted = await CallbackRouter.start(t, port);
    restarted.answer = () => 404;
    await waitFor('a post', () => restarted.posts.length > 0, 10_000);
    const { payload } = restarted.posts[0]!;
    assert.equal((payload as Result).data.thing.seq, 5);
  });

  for (const [of, settings] of [
    ['', {}],
    [', also of one that ROUTERS names', { ROUTERS: '127.0.0.1' }],
  ] as const)
    it(`wait for a slow router up to MAX_QUEUE_BYTES${of}, past which the subscription ends and says so; others do not wait`, async (t) => {
      const { router, publish, subscribe, counts, metric } = await start(t, { MAX_QUEUE_BYTES: '20000', ...settings });
      const [slow, other] = [await subscribe(), await subscribe()];
      await counts('crier_operations', 2);
      let release = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      router.answer = ({ id, action }) =>
        id === slow.id && action === 'next' ? released.then(() => undefined) : undefined;
      for (let count = 5; count <= 40; count += 5) {
        await publish(5, 'x'.repeat(1000));
        await other.next(count);
      }
      assert.equal(await metric('crier_slow_consumers_total'), 1);
      release();
      const { errors } = await slow.completed();
      assert.equal(errors![0]!.message, 'Slow consumer: results were not read in time');
      assert.deepEqual(errors![0]!.extensions, { code: 'STREAM_CLOSED', closeCode: 1013 });
      assert.deepEqual(seqsOf(slow), [1]);
      assert.equal(await metric('crier_queue_bytes'), 0);
      await waitFor('its end', async () => (await metric('crier_connections')) === 1);
    });

  it('precede the completion that a drain sends, with the code of streams, and a new subscription misses nothing', async (t) => {
    const { router, publish, subscribe, hasChannel, server } = await start(t, {
      DRAIN_DELAY_MS: '0',
      DRAIN_SPREAD_MS: '0',
    });
    const subscription = await subscribe();
    await hasChannel(CHANNEL);
    router.answer = async () => void (await new Promise((resolve) => setTimeout(resolve, 50)));
    await publish(3);
    await waitFor('the first post', () => router.posts.some(({ action }) => action === 'next'));
    await server.close();
    const { errors } = await subscription.completed();
    assert.equal(errors![0]!.message, 'The server is shutting down');
    assert.deepEqual(errors![0]!.extensions, { code: 'STREAM_CLOSED', closeCode: 1001 });
    assert.deepEqual(seqsOf(subscription), upTo(3));
    assert.equal(subscription.accepted.at(-1)!.action, 'complete');
  });

  it('resume after the cursor in extensions.resume', async (t) => {
    const { router, publish, subscribe, hasChannel } = await start(t);
    const first = await subscribe();
    await hasChannel(CHANNEL);
    await publish(2);
    const [, last] = (await first.next(2)) as Result[];
    router.forget(first);
    await publish(2);
    await hasChannel(CHANNEL, false);
    const again = await subscribe({ extensions: { resume: { cursor: last!.extensions.cursor } } });
    const missed = (await again.next(2)) as Result[];
    assert.deepEqual(seqsOf(again), [3, 4]);
    assert.equal(missed[0]!.extensions.resumed, true);
  });
});
