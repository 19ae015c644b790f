import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { metricOf } from '../../support/metric.ts';
import { TRANSPORT_WS, handshake, openSocket } from '../../support/socket.ts';
import { IdentityProvider, fromNow } from './identity-provider.ts';
import { stage } from './stage.ts';

describe('a connection with a token', () => {
  it('is acknowledged, and its claims are those of the token', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign({ sub: 'ida' }) });
    socket.send({ type: 'subscribe', id: '1', payload: { query: '{ me }' } });
    const { payload } = await socket.next();
    assert.deepEqual(payload, { data: { me: 'ida' } });
  });

  it('is acknowledged with the Authorization header or, from an allowed origin, with the cookie', async (t) => {
    const { provider, connect } = await stage(t, {
      JWT_LOCATIONS: 'cookie:session',
      ALLOWED_ORIGINS: 'https://app.example.com',
    });
    const token = await provider.sign();
    await (await connect({ authorization: `Bearer ${token}` })).init();
    await (await connect({ cookie: `session=${token}`, origin: 'https://app.example.com' })).init();
  });

  it('is acknowledged with a token among its sub-protocols with JWT_LOCATIONS=subprotocol, which nothing shows (F-3)', async (t) => {
    const context = 'export const createLoaders = ({ connection }) => ({ kept: JSON.stringify(connection) });';
    const { provider, url, log } = await stage(t, { JWT_LOCATIONS: 'subprotocol' }, context);
    const token = await provider.sign({ sub: 'ida' });
    const bearer = `bearer.${token}`;
    for (const protocols of [
      [TRANSPORT_WS, bearer],
      [bearer, TRANSPORT_WS],
    ]) {
      const { status, headers } = await handshake(url, { 'sec-websocket-protocol': protocols.join(', ') });
      assert.deepEqual([status, headers['sec-websocket-protocol']], [101, TRANSPORT_WS]);
      const socket = await openSocket(t, url, { protocols });
      await socket.init({ lang: 'de' });
      socket.subscribe('1', '{ me kept }');
      const { payload } = await socket.next();
      const { me, kept } = (payload as { readonly data: Readonly<Record<'me' | 'kept', string>> }).data;
      assert.equal(me, 'ida');
      assert.match(kept, /"lang":"de"/);
      assert.ok(!kept.includes(token));
    }
    const own = await openSocket(t, url, { protocols: [TRANSPORT_WS, bearer] });
    own.send({ type: 'connection_init', payload: { token: 'x' } });
    assert.deepEqual(await own.expectClose(), { code: 4403, reason: 'Token invalid: the log of the server says why' });
    const origin = 'https://evil.example';
    assert.equal(
      (await handshake(url, { 'sec-websocket-protocol': `${TRANSPORT_WS}, ${bearer}`, origin })).status,
      403,
    );
    assert.ok(log.length > 0 && !log.join('').includes(token));
  });

  it('is closed with 4403 if the token is among its sub-protocols without JWT_LOCATIONS', async (t) => {
    const { provider, url, log } = await stage(t);
    const token = await provider.sign();
    const socket = await openSocket(t, url, { protocols: [`bearer.${token}`, TRANSPORT_WS] });
    socket.send({ type: 'connection_init' });
    assert.deepEqual(await socket.expectClose(), {
      code: 4403,
      reason: 'Token missing: the payload needs { "token": "<token>" }',
    });
    assert.ok(log.length > 0 && !log.join('').includes(token));
  });

  it('shows the text of its token to authenticate, and to no execution, since nothing needs it', (t) =>
    keeps(t, {}, false));

  for (const setting of [
    { BACKEND_MIRROR_FORWARD_AUTHORIZATION: 'true' },
    { BACKEND_MIRROR_FORWARD_HEADERS: 'cookie' },
  ]) {
    it(`keeps the text of its token if a backend receives it: ${Object.keys(setting)[0]}`, (t) =>
      keeps(t, { BACKEND_MIRROR_URL: 'http://127.0.0.1:9', ...setting }, true));
  }

  async function keeps(t: TestContext, settings: Readonly<Record<string, string>>, isKept: boolean): Promise<void> {
    const read =
      '({ headers, params }) => JSON.stringify([headers.authorization, headers.cookie, params.token, params.lang])';
    const { provider, connect, log } = await stage(
      t,
      { JWT_LOCATIONS: 'cookie:session', ...settings },
      `export const backends = ['mirror'];
       const read = ${read};
       export const authenticate = (request) => ({ sub: read(request) });
       export const createLoaders = ({ connection }) => ({ kept: read(connection) });`,
    );
    const token = await provider.sign();
    const socket = await connect({ authorization: `Bearer ${token}`, cookie: `a=1; session=${token}` });
    await socket.init({ token, lang: 'de' });
    socket.subscribe('1', '{ me kept }');
    const { payload } = await socket.next();
    const whole = JSON.stringify([`Bearer ${token}`, `a=1; session=${token}`, token, 'de']);
    const kept = isKept ? whole : JSON.stringify([null, 'a=1', null, 'de']);
    assert.deepEqual(payload, { data: { me: whole, kept } });
    assert.ok(!log.join('').includes(token));
  }

  it('is refused with 403 and counted, without a use of its cookie, if a page of another origin opens it (S-01)', async (t) => {
    const context = 'export const authenticate = () => { throw new Error("called"); };';
    const { provider, url, adminPort, log } = await stage(t, { JWT_LOCATIONS: 'cookie:session' }, context);
    const cookie = `session=${await provider.sign()}`;
    const before = provider.fetches;
    assert.equal((await handshake(url, { cookie, origin: 'https://evil.example' })).status, 403);
    assert.equal(provider.fetches, before);
    assert.doesNotMatch(log.join(''), /called/);
    assert.equal(await metricOf(`http://127.0.0.1:${adminPort}`, 'crier_refusals_total{reason="origin"}'), 1);
  });

  it('is acknowledged with the cookie if ALLOWED_ORIGINS names the other origin (twin of S-01 and S-02)', async (t) => {
    const { provider, connect } = await stage(t, {
      JWT_LOCATIONS: 'cookie:session',
      ALLOWED_ORIGINS: 'https://evil.example',
    });
    const socket = await connect({ cookie: `session=${await provider.sign()}`, origin: 'https://evil.example' });
    await socket.init();
    socket.subscribe('1', '{ me }');
    assert.deepEqual((await socket.next()).payload, { data: { me: 'ida' } });
  });

  it('is closed with 4403 if the cookie came without an Origin (S-03)', async (t) => {
    const { provider, connect } = await stage(t, { JWT_LOCATIONS: 'cookie:session' });
    const socket = await connect({ cookie: `session=${await provider.sign()}` });
    socket.send({ type: 'connection_init' });
    assert.deepEqual(await socket.expectClose(), {
      code: 4403,
      reason: 'Token missing: the payload needs { "token": "<token>" }',
    });
  });

  it('is closed with 4403 if the token is in the URL, which is not logged either (S-20)', async (t) => {
    const { provider, connect, post, log } = await stage(t);
    const token = await provider.sign();
    const socket = await connect({}, `?token=${token}&access_token=${token}`);
    socket.send({ type: 'connection_init' });
    assert.deepEqual(await socket.expectClose(), {
      code: 4403,
      reason: 'Token missing: the payload needs { "token": "<token>" }',
    });
    assert.equal((await post({}, `?access_token=${token}`)).status, 401);
    assert.ok(log.length > 0 && !log.join('').includes(token));
  });

  it('is closed with 4403 and the reason if its token is missing, expired or invalid', async (t) => {
    const { provider, connect } = await stage(t);
    const cases = [
      [{}, 'Token missing: the payload needs { "token": "<token>" }'],
      [{ token: await provider.sign({ exp: fromNow(-61) }) }, 'Token expired'],
      [{ token: await provider.sign({ aud: 'else' }) }, 'Token invalid: the log of the server says why'],
      [{ token: 'x' }, 'Token invalid: the log of the server says why'],
    ] as const;
    for (const [payload, reason] of cases) {
      const socket = await connect();
      socket.send({ type: 'connection_init', payload });
      assert.deepEqual(await socket.expectClose(), { code: 4403, reason });
    }
  });

  it('is closed with 1013 while the keys cannot be fetched, and the pod is not ready', async (t) => {
    const provider = await IdentityProvider.start(t);
    provider.answer = (response) => void response.destroy();
    const { connect, post, adminPort, log } = await stage(t, { JWT_JWKS_URL: `${provider.url}?key=secret` });
    const token = await provider.sign();
    const socket = await connect();
    socket.send({ type: 'connection_init', payload: { token } });
    assert.deepEqual(await socket.expectClose(), { code: 1013, reason: 'Tokens cannot be verified right now' });
    const response = await post({ authorization: `Bearer ${token}` });
    assert.equal(response.status, 503);
    assert.match(await response.text(), /KEYS_UNAVAILABLE/);
    const readiness = await fetch(`http://127.0.0.1:${adminPort}/readyz`);
    assert.equal(readiness.status, 503);
    assert.deepEqual(((await readiness.json()) as { reasons: string[] }).reasons, ['token_keys']);
    const failed = 'crier_token_key_fetches_total{outcome="failed"}';
    assert.ok((await metricOf(`http://127.0.0.1:${adminPort}`, failed)) > 0);
    assert.ok(log.some((line) => line.includes('a key set could not be fetched') && line.includes(provider.url)));
    assert.ok(!log.join('').includes('secret'));
  });

  it('is closed with 4429 at a second connection_init with the token of another user (S-18)', async (t) => {
    const { provider, connect } = await stage(t);
    const socket = await connect();
    await socket.init({ token: await provider.sign() });
    socket.send({ type: 'connection_init', payload: { token: await provider.sign({ sub: 'root' }) } });
    assert.equal((await socket.expectClose()).code, 4429);
  });

  it('has no part of a refused token in the log (S-82)', async (t) => {
    const { provider, connect, log } = await stage(t);
    const token = await provider.sign({ aud: 'else' });
    const socket = await connect({ cookie: `session=${token}` });
    socket.send({ type: 'connection_init', payload: { token } });
    await socket.expectClose();
    const text = log.join('');
    assert.match(text, /token_invalid/);
    for (const part of token.split('.')) assert.ok(!text.includes(part));
  });
});

describe('a POST request with a token', () => {
  it('is answered with the claims of the token', async (t) => {
    const { provider, post } = await stage(t);
    const response = await post({ authorization: `Bearer ${await provider.sign()}` });
    assert.deepEqual(await response.json(), { data: { me: 'ida' } });
  });

  it('is answered with 401 and a challenge otherwise (RFC 6750 section 3)', async (t) => {
    const { provider, post } = await stage(t);
    const challengeOf = async (headers: Readonly<Record<string, string>>) => {
      const response = await post(headers);
      assert.equal(response.status, 401);
      assert.match(await response.text(), /UNAUTHENTICATED/);
      return response.headers.get('www-authenticate');
    };
    assert.equal(await challengeOf({}), 'Bearer');
    assert.match((await challengeOf({ authorization: 'Bearer x' }))!, /error="invalid_token"/);
    const expired = await provider.sign({ exp: fromNow(-61) });
    assert.match((await challengeOf({ authorization: `Bearer ${expired}` }))!, /error_description="Token expired"/);
  });
});

describe('AUTH', () => {
  it('optional: accepts a connection without a token, and refuses one with a token that is not valid', async (t) => {
    const { connect, post } = await stage(t, { AUTH: 'optional' });
    await (await connect()).init();
    assert.deepEqual(await (await post()).json(), { data: { me: null } });
    const socket = await connect();
    socket.send({ type: 'connection_init', payload: { token: 'x' } });
    assert.deepEqual(await socket.expectClose(), {
      code: 4403,
      reason: 'Token invalid: the log of the server says why',
    });
  });

  it('none: reads no token', async (t) => {
    const { connect, provider } = await stage(t, { AUTH: 'none' });
    await (await connect()).init({ token: 'x' });
    assert.equal(provider.fetches, 0);
  });
});

describe('the log of a refused client', () => {
  it('has the message of a refused token, without a stack, and the stack of an error of the graph', async (t) => {
    const { provider, post, log } = await stage(
      t,
      {},
      'export const authenticate = () => { throw new Error("called"); };',
    );
    const errors = () =>
      log.flatMap((line) => {
        const { msg, err } = JSON.parse(line) as { msg: string; err: { message: string; stack?: string } };
        return msg.startsWith('authenticate failed') ? [err] : [];
      });
    await post();
    await post({ authorization: `Bearer ${await provider.sign()}` });
    const [refused, thrown] = errors();
    assert.equal(refused?.message, 'no token was sent; a header Authorization begins with "Bearer "');
    assert.equal(refused.stack || undefined, undefined);
    assert.match(thrown?.stack ?? '', /called\n +at /);
  });

  it('has each reason of refused tokens once per window, also of those that come soon after another', async (t) => {
    const { provider, post, log } = await stage(t);
    const tokens = ['x', `${await provider.sign()}x`, await provider.sign({ aud: 'else' }), 'y'];
    for (const token of tokens) {
      const body = await (await post({ authorization: `Bearer ${token}` })).text();
      assert.match(body, /"message":"Token invalid: the log of the server says why"/);
    }
    const reasons = log.flatMap((line) => {
      const { msg, err } = JSON.parse(line) as { msg: string; err: { message: string } };
      return msg.startsWith('authenticate failed') ? [err.message] : [];
    });
    assert.deepEqual(reasons, [
      'Invalid Compact JWS; it is no JSON Web Token (RFC 7519): three texts with dots between them',
      'signature verification failed; it is signed with another key than that of JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL',
      'unexpected "aud" claim value; JWT_AUDIENCE must name its audience',
    ]);
  });
});

describe('a pod that accepts tokens of any issuer', () => {
  it('warns of it at its start', async (t) => {
    const { log } = await stage(t, { JWT_ISSUER: '' });
    assert.equal(log.filter((line) => line.includes('JWT_ISSUER is not set')).length, 1);
  });
});

describe("the graph's authenticate", () => {
  it('receives the verified claims and may replace them', async (t) => {
    const { provider, post } = await stage(
      t,
      {},
      'export const authenticate = ({ claims }) => ({ sub: `${claims.sub} of ${claims.tenant}` });',
    );
    const token = await provider.sign({ tenant: 'north' });
    const response = await post({ authorization: `Bearer ${token}` });
    assert.deepEqual(await response.json(), { data: { me: 'ida of north' } });
  });

  it('keeps the claims of the token if it returns nothing', async (t) => {
    const { provider, post } = await stage(t, {}, 'export const authenticate = () => undefined;');
    const response = await post({ authorization: `Bearer ${await provider.sign()}` });
    assert.deepEqual(await response.json(), { data: { me: 'ida' } });
  });

  it('is not asked about a token that is not valid', async (t) => {
    const { post } = await stage(t, {}, 'export const authenticate = () => ({ sub: "anybody" });');
    assert.equal((await post({ authorization: 'Bearer x' })).status, 401);
  });

  it('may return the payload of connection_ack', async (t) => {
    const { provider, connect } = await stage(
      t,
      {},
      'export const authenticate = ({ claims }) => ({ claims, ack: { welcome: claims.sub } });',
    );
    const socket = await connect();
    socket.send({ type: 'connection_init', payload: { token: await provider.sign() } });
    const { type, payload } = await socket.next();
    assert.equal(type, 'connection_ack');
    assert.equal((payload as { welcome: string }).welcome, 'ida');
  });
});
