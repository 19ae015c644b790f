import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { fromNow } from '../identity/identity-provider.ts';
import { TICKS, stage } from '../identity/stage.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CallbackRouter } from './callback-router.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function start(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  return CallbackRouter.beside(t, (url) => stage(t, { CALLBACK_URLS: url, ...settings }));
}

describe('a callback of a client with a token', { concurrency: 4 }, () => {
  it('is refused with 401 without a token that is accepted, and not posted to', async (t) => {
    const { router, endpoint, provider } = await start(t);
    for (const headers of [{}, bearer(await provider.sign({ exp: fromNow(-1000) }))])
      assert.equal((await router.subscribe(endpoint, TICKS, { headers })).status, 401);
    assert.equal(router.posts.length, 0);
  });

  it('ends when the token expires, with an error that says so, and its verifier is in no log', async (t) => {
    const { router, endpoint, provider, log } = await start(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const exp = fromNow(4);
    const headers = bearer(await provider.sign({ exp, tenant: 'a' }));
    const { subscription } = await router.subscribe(endpoint, TICKS, { headers });
    const [event] = await subscription.next(1);
    assert.equal((event!.data as { tick: { tenant: string } }).tick.tenant, 'a');
    const { errors } = await subscription.completed();
    assert.deepEqual([errors![0]!.message, errors![0]!.extensions!['closeCode']], ['Token expired', 4403]);
    for (const { action, at } of subscription.accepted)
      if (action === 'next') assert.ok(performance.timeOrigin + at <= exp * 1000 + 50);
    assert.ok(log.length > 0);
    assert.ok(!log.join('').includes(subscription.verifier));
  });

  it('is listed for operators, and ended by a revocation', async (t) => {
    const { router, endpoint, provider, adminPort } = await start(t);
    const headers = bearer(await provider.sign({ sub: 'ida' }));
    const { subscription } = await router.subscribe(endpoint, TICKS, { headers });
    await subscription.next(1);
    const admin = `http://127.0.0.1:${adminPort}`;
    const { connections } = (await (await fetch(`${admin}/debug/connections?by=bytes_sent`)).json()) as {
      connections: { operations: number; bytes_sent: number }[];
    };
    assert.equal(connections.length, 1);
    assert.equal(connections[0]!.operations, 1);
    assert.ok(connections[0]!.bytes_sent > 0);
    const body = JSON.stringify({ sub: 'ida' });
    await fetch(`${admin}/admin/connections/revoke`, { method: 'POST', body });
    const { errors } = await subscription.completed();
    assert.equal(errors![0]!.message, 'Revoked');
    assert.equal((await router.subscribe(endpoint, TICKS, { headers })).status, 401);
  });

  it('is refused with 403 if it is revoked while the router answers the check', async (t) => {
    const { router, endpoint, provider, adminPort } = await start(t);
    const headers = bearer(await provider.sign({ sub: 'ida' }));
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    router.answer = () => released.then(() => undefined);
    const asked = router.subscribe(endpoint, TICKS, { headers });
    await waitFor('the check', () => router.posts.length === 1);
    const revoke = `http://127.0.0.1:${adminPort}/admin/connections/revoke`;
    await fetch(revoke, { method: 'POST', body: JSON.stringify({ sub: 'ida' }) });
    const { status, headers: replied, body } = await asked;
    release();
    assert.deepEqual([status, replied.get('retry-after'), body.errors![0]!.message], [403, null, 'Revoked']);
    assert.equal(body.errors![0]!.extensions['code'], 'FORBIDDEN');
  });

  it('is refused with 429 when its user has as many connections as a user may have', async (t) => {
    const { router, endpoint, provider } = await start(t, { MAX_CONNECTIONS_PER_USER: '1' });
    const headers = bearer(await provider.sign({ sub: 'ida' }));
    const { subscription } = await router.subscribe(endpoint, TICKS, { headers });
    const { status, body } = await router.subscribe(endpoint, TICKS, { headers });
    assert.equal(status, 429);
    assert.match(body.errors![0]!.message, /MAX_CONNECTIONS_PER_USER/);
    router.forget(subscription);
    await waitFor('room', async () => (await router.subscribe(endpoint, TICKS, { headers })).status === 200);
  });
});
