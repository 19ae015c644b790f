import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createClient as createStockClient } from 'graphql-ws';
import type { JWTPayload } from 'jose';
import { WebSocket } from 'ws';
import { createClient } from '../../../client/client.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fromNow } from './identity-provider.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { TICKS, stage } from './stage.ts';
import type { Tick } from './stage.ts';

interface Pong {
  readonly expiresAt?: number;
  readonly expiresInMs?: number;
  readonly error?: string;
}

/** Claims without a subject. */
const NOBODY = { sub: undefined } as unknown as JWTPayload;

const ping = (payload: object) => ({ type: 'ping', payload });

/** The payload of the next pong; events before it are dropped. */
async function pongOf(socket: Socket): Promise<Pong> {
  for (;;) {
    const { type, payload } = await socket.next();
    if (type === 'pong') return payload as Pong;
  }
}

async function refresh(socket: Socket, payload: object): Promise<Pong> {
  socket.send(ping(payload));
  return pongOf(socket);
}

async function ask(socket: Socket, field: string): Promise<unknown> {
  const id = crypto.randomUUID();
  socket.subscribe(id, `{ ${field} }`);
  for (;;) {
    const message = await socket.next();
    if (message.id === id && message.type === 'next') return (message.payload as { data: object }).data;
  }
}

const tenantOf = ({ payload }: { readonly payload?: unknown }) => (payload as { data: Tick }).data.tick.tenant;

describe('a ping with a token', { concurrency: 4 }, () => {
  it('replaces the claims and the expiry, and says when that is', async (t) => {
    const { provider, connect, adminPort } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const socket = await connect();
    const first = fromNow(4);
    await socket.init({ token: await provider.sign({ exp: first, tenant: 'north' }) });
    socket.subscribe('1', TICKS);
    assert.equal(tenantOf(await socket.next()), 'north');
    const exp = fromNow(600);
    const { expiresAt, expiresInMs } = await refresh(socket, { token: await provider.sign({ exp, tenant: 'south' }) });
    assert.equal(expiresAt, exp * 1000);
    assert.ok(expiresInMs! > 590_000 && expiresInMs! <= 600_000);
    const later = await waitFor('events after the first expiry', async () => {
      const event = await socket.next();
      return Date.now() > first * 1000 + 1_000 ? event : undefined;
    });
    assert.equal(tenantOf(later), 'south');
    assert.deepEqual(await ask(socket, 'tenant'), { tenant: 'south' });
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    assert.match(metrics, /^crier_tokens_refreshed_total 1$/m);
  });

  it('may have it as token, authorization or Authorization, with or without Bearer', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign() });
    for (const name of ['token', 'authorization', 'Authorization']) {
      for (const scheme of ['', 'Bearer ']) {
        const tenant = `${name} ${scheme}`;
        const { error } = await refresh(socket, { [name]: `${scheme}${await provider.sign({ tenant })}` });
        assert.equal(error, undefined);
        assert.deepEqual(await ask(socket, 'tenant'), { tenant });
      }
    }
  });

  it('replaces the Authorization header and the parameters of the connection', async (t) => {
    const { provider, connect } = await stage(
      t,
      {},
      `export const authenticate = ({ headers, params, claims }) =>
         ({ ...claims, tenant: JSON.stringify([headers.authorization, params.token, params.authorization, params.other]) });`,
    );
    const [one, two, three] = await Promise.all(['1', '2', '3'].map((jti) => provider.sign({ jti })));
    const socket = await connect({ authorization: `Bearer ${one}` });
    await socket.init({ authorization: `Bearer ${two}`, other: 'x' });
    await refresh(socket, { token: three });
    const { tenant } = (await ask(socket, 'tenant')) as { tenant: string };
    assert.deepEqual(JSON.parse(tenant), [null, three, null, 'x']);
  });

  it('gives backends that receive the credentials of the caller the new token', async (t) => {
    const mirror = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ authorization: request.headers.authorization }));
    }).listen(0, '127.0.0.1');
    await once(mirror, 'listening');
    t.after(() => {
      mirror.closeAllConnections();
      mirror.close();
    });
    const settings = {
      BACKEND_MIRROR_URL: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`,
      BACKEND_MIRROR_FORWARD_AUTHORIZATION: 'true',
    };
    const { provider, connect } = await stage(t, settings, 'export const backends = ["mirror"];');
    const [one, two, three] = await Promise.all(['1', '2', '3'].map((jti) => provider.sign({ jti })));
    const socket = await connect({ authorization: `Bearer ${one}` });
    await socket.init();
    assert.deepEqual(await ask(socket, 'forwarded'), { forwarded: `Bearer ${one}` });
    await refresh(socket, { token: two });
    assert.deepEqual(await ask(socket, 'forwarded'), { forwarded: `Bearer ${two}` });
    await refresh(socket, { authorization: `Bearer ${three}` });
    assert.deepEqual(await ask(socket, 'forwarded'), { forwarded: `Bearer ${three}` });
  });

  it('is answered before later messages are: their operations have the new claims', async (t) => {
    const { provider, connect } = await stage(
      t,
      {},
      'export const authenticate = ({ claims }) => new Promise((resolve) => setTimeout(resolve, 100, claims));',
    );
    const socket = await connect();
    await socket.init({ token: await provider.sign({ tenant: 'north' }) });
    const token = await provider.sign({ tenant: 'south' });
    socket.sendTogether(ping({ token }), { id: '1', type: 'subscribe', payload: { query: '{ tenant }' } });
    const messages = await socket.take(3);
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['pong', 'next', 'complete'],
    );
    assert.deepEqual(messages[1]!.payload, { data: { tenant: 'south' } });
  });

  it('that the provider has signed with a new key is accepted', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign({ tenant: 'north' }) });
    await provider.rotate();
    provider.withdraw();
    const { error } = await refresh(socket, { token: await provider.sign({ tenant: 'south' }) });
    assert.equal(error, undefined);
    assert.deepEqual(await ask(socket, 'tenant'), { tenant: 'south' });
  });

  it('asks the authenticate of the graph again, whose ack the pong has', async (t) => {
    const { provider, connect } = await stage(
      t,
      {},
      'export const authenticate = ({ claims }) => claims.tenant !== "closed" && ({ claims, ack: { hello: claims.tenant } });',
    );
    const socket = await connect();
    await socket.init({ token: await provider.sign({ tenant: 'north' }) });
    assert.deepEqual(await refresh(socket, { token: await provider.sign({ tenant: 'closed' }) }), {
      error: 'Forbidden',
    });
    const pong = await refresh(socket, { token: await provider.sign({ tenant: 'south' }) });
    assert.equal((pong as { hello?: string }).hello, 'south');
  });
});

describe('a ping with a token that is not accepted', { concurrency: 4 }, () => {
  it('says so, and the connection keeps its claims until they expire', async (t) => {
    const { provider, connect, log } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const socket = await connect();
    const exp = fromNow(5);
    await socket.init({ token: await provider.sign({ exp, tenant: 'north' }) });
    const garbage = `${await provider.sign()}x`;
    const cases = [
      [garbage, 'Token invalid: the log of the server says why'],
      ['x', 'Token invalid: the log of the server says why'],
      [await provider.sign({ exp: fromNow(-1) }), 'Token expired'],
      [await provider.sign({ sub: 'root' }), 'Token of another subject'],
      [await provider.sign(NOBODY), 'Token of another subject'],
      ['', 'Token missing: the payload needs { "token": "<token>" }'],
      [5, 'Token missing: the payload needs { "token": "<token>" }'],
      [{ a: 1 }, 'Token missing: the payload needs { "token": "<token>" }'],
    ] as const;
    for (const [token, error] of cases) {
      assert.deepEqual(await refresh(socket, { token }), { error });
      assert.deepEqual(await ask(socket, 'tenant'), { tenant: 'north' });
    }
    assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Token expired' });
    assert.ok(Date.now() < exp * 1000 + 5_000);
    for (const part of garbage.split('.')) assert.ok(!log.join('').includes(part));
  });

  it('of no subject is refused if the connection has none either', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign(NOBODY) });
    assert.deepEqual(await refresh(socket, { token: await provider.sign(NOBODY) }), {
      error: 'Token of another subject',
    });
  });

  it('because the connection has none, or is not acknowledged yet, is not echoed', async (t) => {
    const { provider, connect } = await stage(t, { AUTH: 'optional' });
    const socket = await connect();
    const token = await provider.sign();
    assert.deepEqual(await refresh(socket, { token }), { error: 'Unauthorized' });
    await socket.init();
    assert.deepEqual(await refresh(socket, { token }), { error: 'Token of another subject' });
    assert.deepEqual(await refresh(socket, { n: 1 }), { n: 1 });
  });

  it('because no token is accepted at all is not echoed', async (t) => {
    const { connect } = await stage(t, { AUTH: 'none' });
    const socket = await connect();
    await socket.init();
    assert.deepEqual(await refresh(socket, { authorization: 'Bearer x' }), { error: 'Token of another subject' });
  });

  it('because its key cannot be fetched says that', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign() });
    await provider.rotate();
    provider.answer = (response) => void response.destroy();
    assert.deepEqual(await refresh(socket, { token: await provider.sign() }), {
      error: 'Tokens cannot be verified right now',
    });
  });
});

/** Tokens that live for 8 s; the tenant says how many were asked for. */
function shortTokens(provider: IdentityProvider) {
  const asked: boolean[] = [];
  const next = async (isStale: boolean) => {
    asked.push(isStale);
    return { token: await provider.sign({ exp: fromNow(8), tenant: `${asked.length}` }), other: 1 };
  };
  return { asked, next };
}

describe('@crier/client', { concurrency: 2 }, () => {
  it('refreshes its token before it expires, and stays connected', { timeout: 60_000 }, async (t) => {
    const { provider, url } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const { asked, next } = shortTokens(provider);
    const closes: unknown[] = [];
    const tenants = new Set<string | null>();
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: next,
      on: { closed: (event) => closes.push(event) },
    });
    t.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
    client.subscribe<Tick>(
      { query: TICKS },
      { next: ({ data }) => tenants.add(data!.tick.tenant), error: assert.fail, complete: () => undefined },
    );
    await waitFor('events with the third token', () => tenants.has('3'), 30_000);
    assert.deepEqual([asked, closes, [...tenants]], [[false, true, true], [], ['1', '2', '3']]);
  });

  it('asks again if that fails, and reconnects when the token has expired', { timeout: 60_000 }, async (t) => {
    const { provider, url } = await stage(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const { asked, next } = shortTokens(provider);
    const closes: number[] = [];
    const problems: unknown[] = [];
    const tenants = new Set<string | null>();
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: async (isStale) => {
        const params = await next(isStale);
        if (asked.length === 2) throw new Error('no token to be had');
        return asked.length === 3 ? { token: 'x' } : params;
      },
      retryWait: () => Promise.resolve(),
      on: {
        closed: (event) => closes.push((event as { code: number }).code),
        error: (problem) => problems.push(problem),
      },
    });
    t.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
    client.subscribe<Tick>(
      { query: TICKS },
      { next: ({ data }) => tenants.add(data!.tick.tenant), error: assert.fail, complete: () => undefined },
    );
    await waitFor('events of the next connection', () => closes.length > 0 && tenants.size > 1, 30_000);
    assert.equal((problems[0] as Error).message, 'no token to be had');
    assert.equal(closes[0], 4403);
    assert.ok(asked.slice(1).every(Boolean), String(asked));
  });
});

describe('a stock client', () => {
  it('refreshes its token with a ping on its socket', async (t) => {
    const { provider, url } = await stage(t);
    const pongs: unknown[] = [];
    const tenants: (string | null)[] = [];
    let socket: WebSocket | undefined;
    const client = createStockClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: async () => ({ token: await provider.sign({ tenant: 'north' }) }),
      on: {
        connected: (connected) => (socket = connected as WebSocket),
        pong: (isReceived, payload) => isReceived && pongs.push(payload),
      },
    });
    t.after(() => void Promise.resolve(client.dispose()).catch(() => undefined));
    client.subscribe<Tick>(
      { query: TICKS },
      { next: ({ data }) => tenants.push(data!.tick.tenant), error: assert.fail, complete: () => undefined },
    );
    await waitFor('an event', () => tenants.length > 0);
    socket!.send(JSON.stringify(ping({ authorization: `Bearer ${await provider.sign({ tenant: 'south' })}` })));
    await waitFor('the pong', () => pongs.length > 0);
    await waitFor('events of the other tenant', () => tenants.at(-1) === 'south');
    const at = tenants.indexOf('south');
    assert.ok(tenants.slice(at).every((tenant) => tenant === 'south'));
  });
});
