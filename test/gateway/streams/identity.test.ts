import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromNow } from '../identity/identity-provider.ts';
import { TICKS, stage } from '../identity/stage.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openStream } from './stream-client.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a stream of a client with a token', () => {
  it('is refused with 401 without a token that is accepted', async (t) => {
    const { endpoint, provider } = await stage(t);
    for (const headers of [{}, bearer('nonsense'), bearer(await provider.sign({ exp: fromNow(-1000) }))]) {
      const stream = await openStream(t, endpoint, {
        headers: headers,
        body: { query: TICKS },
      });
      assert.equal(stream.status, 401);
    }
  });

  it('is closed when the token expires, and says so', async (t) => {
    const { endpoint, provider, adminPort } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const exp = fromNow(4);
    const headers = bearer(await provider.sign({ exp, tenant: 'a' }));
    const stream = await openStream(t, endpoint, { headers, body: { query: TICKS } });
    const [event] = await stream.take(1);
    assert.equal((event!.data as { data: { tick: { tenant: string } } }).data.tick.tenant, 'a');
    await stream.ended();
    assert.ok(Date.now() <= exp * 1000);
    assert.match(stream.text, /: closed with 4403 Token expired\n\n$/);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    assert.match(metrics, /^crier_tokens_expired_total 1$/m);
  });

  it('is listed for operators, and closed by a revocation', async (t) => {
    const { endpoint, provider, adminPort } = await stage(t);
    const headers = bearer(await provider.sign({ sub: 'ida' }));
    const stream = await openStream(t, endpoint, { headers, body: { query: TICKS } });
    await stream.take(1);
    const admin = `http://127.0.0.1:${adminPort}`;
    const { connections } = (await (await fetch(`${admin}/debug/connections?by=operations`)).json()) as {
      connections: { operations: number; bytes_sent: number }[];
    };
    assert.equal(connections.length, 1);
    assert.equal(connections[0]!.operations, 1);
    assert.ok(connections[0]!.bytes_sent > 0);
    const body = JSON.stringify({ sub: 'ida' });
    const reply = await (await fetch(`${admin}/admin/connections/revoke`, { method: 'POST', body })).json();
    assert.equal((reply as { closed: number }).closed, 1);
    await stream.ended();
    assert.match(stream.text, /: closed with 4403 Revoked\n\n$/);
    assert.equal((await openStream(t, endpoint, { headers, body: { query: TICKS } })).status, 401);
  });

  it('is refused with 429 when its user has as many connections as a user may have', async (t) => {
    const { endpoint, provider } = await stage(t, { MAX_CONNECTIONS_PER_USER: '1' });
    const headers = bearer(await provider.sign({ sub: 'ida' }));
    const first = await openStream(t, endpoint, { headers, body: { query: TICKS } });
    assert.equal(first.status, 200);
    const second = await openStream(t, endpoint, { headers, body: { query: TICKS } });
    assert.equal(second.status, 429);
    await second.ended();
    assert.match(second.text, /MAX_CONNECTIONS_PER_USER/);
    first.leave();
    await waitFor(
      'room',
      async () => (await openStream(t, endpoint, { headers, body: { query: TICKS } })).status === 200,
    );
  });

  it('has the identity of its reservation, which its token stands for', async (t) => {
    const { endpoint, provider } = await stage(t);
    assert.equal((await fetch(endpoint, { method: 'PUT' })).status, 401);
    const authorization = { authorization: `Bearer ${await provider.sign({ tenant: 'b' })}` };
    const token = await (await fetch(endpoint, { method: 'PUT', headers: authorization })).text();
    const stream = await openStream(t, `${endpoint}?token=${token}`, { method: 'GET' });
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-graphql-event-stream-token': token },
      body: JSON.stringify({ query: TICKS, extensions: { operationId: '1' } }),
    });
    assert.equal(response.status, 202);
    const [event] = await stream.take(1);
    assert.match(JSON.stringify(event!.data), /"id":"1".*"tenant":"b"/);
  });
});
