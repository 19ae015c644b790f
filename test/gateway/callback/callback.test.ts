import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../support/wait-for.ts';
import { startStreams } from '../streams/start-streams.ts';
import { CallbackRouter } from './callback-router.ts';
import { startCallbacks } from './start-callbacks.ts';

describe('a subscription over the HTTP callback protocol', { concurrency: 4 }, () => {
  it('is checked, begins with data null, and is posted each result, then its completion', async (t) => {
    const { router, probe, live, metric } = await startCallbacks(t);
    const { status, headers, body, subscription } = await live();
    assert.deepEqual([status, body], [200, { data: null }]);
    assert.equal(headers.get('subscription-protocol'), 'callback/1.0');
    assert.deepEqual(
      router.posts.map(({ action }) => action),
      ['check'],
    );
    assert.equal(await metric('crier_streams{transport="callback"}'), 1);
    assert.equal(await metric('crier_connections'), 1);
    for (const value of [1, 2, 3]) probe.push(value);
    await subscription.next(3);
    probe.end();
    const completion = await subscription.completed();
    assert.deepEqual(
      subscription.payloads.map(({ data }) => data),
      [1, 2, 3].map((value) => ({ live: { value } })),
    );
    assert.equal(completion.errors, undefined);
    assert.equal(router.maxAtOnce, 1);
    for (const { headers: sent } of router.posts) {
      assert.equal(sent['content-type'], 'application/json');
      assert.equal(sent['subscription-protocol'], 'callback/1.0');
      assert.deepEqual([sent.cookie, sent.authorization], [undefined, undefined]);
    }
    await waitFor('its end', async () => (await metric('crier_connections')) === 0);
    assert.equal(await metric('crier_streams{transport="callback"}'), 0);
    assert.equal(await metric('crier_callback_posts_total{result="delivered"}'), 5);
  });

  it('is completed with the errors of a source that fails', async (t) => {
    const { probe, live } = await startCallbacks(t);
    const { subscription } = await live();
    probe.fail(new Error('broken'));
    const { errors } = await subscription.completed();
    assert.equal(errors![0]!.extensions!['code'], 'INTERNAL_SERVER_ERROR');
  });

  for (const action of ['check', 'next'] as const)
    it(`ends when a ${action} gets 404, and posts no more`, async (t) => {
      const { router, probe, live, metric } = await startCallbacks(t);
      const { subscription } = await live(action === 'check' ? { extension: { heartbeatIntervalMs: 1000 } } : {});
      router.forget(subscription);
      if (action === 'next') probe.push(1);
      await waitFor('its end', async () => (await metric('crier_connections')) === 0);
      await waitFor('the end of its source', () => probe.returns === 1);
      assert.equal(router.posts.length, 2);
      assert.equal(await metric('crier_callback_posts_total{result="gone"}'), 1);
    });

  it('is told why it ends if a post is refused otherwise', async (t) => {
    const { router, probe, live, metric } = await startCallbacks(t);
    const { subscription } = await live();
    router.answer = ({ action }) => (action === 'next' ? 413 : undefined);
    probe.push(1);
    const { errors } = await subscription.completed();
    assert.equal(errors![0]!.message, 'The callback refused a post: status 413');
    assert.deepEqual(errors![0]!.extensions, { code: 'STREAM_CLOSED', closeCode: 1008 });
    await waitFor('its end', async () => (await metric('crier_connections')) === 0);
  });

  it('replaces the former one of its URL, id and verifier, which its router has lost', async (t) => {
    const { router, probe, live, metric } = await startCallbacks(t);
    const { subscription: former } = await live({ id: 'same' });
    const callbackUrl = `${router.url}/same#other`;
    const { subscription } = await live({ id: 'same', extension: { callbackUrl } });
    await waitFor('the end of the former', async () => (await metric('crier_connections')) === 1);
    probe.push(1);
    await subscription.next(1);
    probe.push(2);
    await subscription.next(2);
    assert.equal(former.payloads.length, 0);
    assert.deepEqual(
      subscription.payloads.map(({ data }) => data),
      [1, 2].map((value) => ({ live: { value } })),
    );
    assert.ok(router.posts.every(({ action }) => action !== 'complete'));
  });

  it('stays when a client subscribes with its URL and id and another verifier', async (t) => {
    const { router, probe, live, metric } = await startCallbacks(t);
    await live({ id: 'same' });
    router.verifies = false;
    await live({ id: 'same', extension: { verifier: 'guessed' } });
    probe.push(1);
    await waitFor('both posts', () => router.posts.filter(({ action }) => action === 'next').length === 2);
    assert.equal(await metric('crier_streams{transport="callback"}'), 2);
  });

  it('leaves with its client, and ends no former one, if the client leaves while the router answers the check', async (t) => {
    const { router, probe, live, metric } = await startCallbacks(t);
    const { subscription } = await live({ id: 'same' });
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    router.answer = ({ action }) => (action === 'check' ? released.then(() => undefined) : undefined);
    const client = new AbortController();
    const again = live({ id: 'same', signal: client.signal });
    await waitFor('its check', () => router.posts.length === 2);
    client.abort();
    await assert.rejects(again, { name: 'AbortError' });
    // Crier, in this process, has read the close once it has answered.
    await metric('crier_connections');
    release();
    await waitFor('its end', async () => (await metric('crier_connections')) === 1);
    assert.equal(await metric('crier_streams{transport="callback"}'), 1);
    probe.push(1);
    await waitFor('a post', () => router.posts.some(({ action }) => action === 'next'));
    router.forget(subscription);
    probe.push(2);
    await waitFor('the end of the former', async () => (await metric('crier_connections')) === 0);
  });

  it('is refused with 403 to a client that is no router, if ROUTERS names some', async (t) => {
    const { router, live } = await startCallbacks(t, { ROUTERS: '192.0.2.1' });
    const { status, body } = await live();
    assert.equal(status, 403);
    assert.match(
      body.errors![0]!.message,
      /^Only a router may use the HTTP callback protocol: name it in the setting ROUTERS/,
    );
    assert.equal(router.posts.length, 0);
  });

  it('counts as a connection', async (t) => {
    const { live, metric } = await startCallbacks(t, { MAX_CONNECTIONS: '1' });
    assert.equal((await live()).status, 200);
    const { status, body } = await live();
    assert.equal(status, 503);
    assert.match(body.errors![0]!.message, /MAX_CONNECTIONS/);
    assert.equal(await metric('crier_connections'), 1);
  });

  it('answers a query that accepts callbacks as any other', async (t) => {
    const { router, url } = await startCallbacks(t);
    const { body } = await router.subscribe(url, '{ hello }');
    assert.deepEqual(body, { data: { hello: 'world' } });
    const { body: invalid } = await router.subscribe(url, 'subscription { nothing }');
    assert.equal(invalid.errors![0]!.extensions['code'], 'GRAPHQL_VALIDATION_FAILED');
    assert.equal(router.posts.length, 0);
  });
});

describe('a callback that is not confirmed', () => {
  for (const [status, problem, extension] of [
    [401, 'the router refused it', { verifier: 'guessed' }],
    [404, 'the router does not know it', {}],
    [307, 'the router refused it', {}],
    [503, 'the router cannot be reached', {}],
  ] as const)
    it(`refuses the subscription with 502, and tells not that the status is ${status}`, async (t) => {
      const { router, probe, live, metric } = await startCallbacks(t);
      router.answer = () => status;
      const begun = await live({ extension });
      assert.equal(begun.status, 502);
      const [error] = begun.body.errors!;
      assert.equal(error!.extensions['code'], 'CALLBACK_FAILED');
      assert.equal(error!.message, `The callback did not confirm the subscription (check): ${problem}`);
      assert.equal(router.posts.length, 1);
      assert.equal(probe.starts, 0);
      assert.equal(await metric('crier_connections'), 0);
    });

  it('is one of 500 at most; more get 503', async (t) => {
    const { router, live, metric } = await startCallbacks(t);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    router.answer = () => released.then(() => 404);
    let isReleased = false;
    let refused = 0;
    // The first checks may time out before the last requests have come, on a busy machine: others take their places.
    const ask = async (): Promise<void> => {
      const { status } = await live();
      if (status === 503) refused++;
      else assert.equal(status, 502);
      if (!isReleased) await ask();
    };
    const asked = Array.from({ length: 500 }, ask);
    await waitFor('their connections', async () => (await metric('crier_connections')) === 500, 60_000);
    let begun = await live();
    for (; begun.status !== 503; begun = await live()) assert.equal(begun.status, 502);
    refused++;
    assert.equal(begun.headers.get('retry-after'), '1');
    assert.match(begun.body.errors![0]!.message, /^Too many callbacks have not confirmed/);
    isReleased = true;
    release();
    await Promise.all(asked);
    assert.equal(await metric('crier_refusals_total{reason="callback_checks"}'), refused);
    router.answer = undefined;
    assert.equal((await live()).status, 200);
  });
});

describe('the URL of a callback', () => {
  it('is refused while the protocol is off, and the reply names the setting', async (t) => {
    const router = await CallbackRouter.start(t);
    const { url } = await startStreams(t);
    const { status, body } = await router.subscribe(url, 'subscription { live(token: "") { value } }');
    assert.equal(status, 403);
    assert.match(body.errors![0]!.message, /CALLBACK_URLS/);
    assert.equal(router.posts.length, 0);
  });

  it('is refused with 400, and not posted to, if it is not allowed', async (t) => {
    const { router, live, metric } = await startCallbacks(t);
    const { status, body } = await live({ extension: { callbackUrl: `http://localhost:${router.port}/callback/1` } });
    assert.equal(status, 400);
    assert.match(body.errors![0]!.message, /^extensions\.subscription\.callbackUrl is not allowed/);
    assert.equal(body.errors![0]!.extensions['code'], 'BAD_USER_INPUT');
    assert.equal(router.posts.length, 0);
    assert.equal(await metric('crier_refusals_total{reason="callback"}'), 1);
  });
});

describe('extensions.subscription', () => {
  it('is asked for by a reply to a request that has none', async (t) => {
    const { url } = await startCallbacks(t);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json;callbackSpec=1.0' },
      body: JSON.stringify({ query: 'subscription { live(token: "") { value } }' }),
    });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /needs extensions\.subscription, an object with callbackUrl/);
  });
});
