import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { JWTPayload } from 'jose';
import { stage } from '../identity/stage.ts';
import { metricOf } from '../../support/metric.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sendRaw } from './raw-client.ts';

/** Of a request whose body has 18 bytes: `{"query":"{ me }"}`. */
const HEAD = 'POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 18\r\n';
const BODY = '{"query":"{ me }"}';

/** A crier that accepts tokens and needs none. */
async function startCrier(t: TestContext, settings: Readonly<Record<string, string>> = {}, context?: string) {
  const crier = await stage(t, { AUTH: 'optional', ...settings }, context);
  const { port } = new URL(crier.url);
  const post = (token?: string, query = '{ me }', headers: Readonly<Record<string, string>> = {}) =>
    fetch(crier.url.replace('ws:', 'http:'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify({ query }),
    });
  return {
    ...crier,
    post,
    metric: (name: string) => metricOf(`http://127.0.0.1:${crier.adminPort}`, name),
    /** Writes bytes and resolves with the socket, and what it has received. */
    write: (text: string) => sendRaw(t, Number(port), text),
  };
}

async function refusalOf(response: Response): Promise<{ readonly [name: string]: unknown }> {
  const { errors } = (await response.json()) as { errors: { message: string; extensions: Record<string, unknown> }[] };
  const { message, extensions } = errors[0]!;
  return { status: response.status, retryAfter: response.headers.get('retry-after'), message, ...extensions };
}

describe('limits of requests to /graphql', () => {
  it('refuse the requests of a user beyond its rate with 429, and those of no other', async (t) => {
    const { provider, post, metric } = await startCrier(t, { MAX_REQUESTS_PER_SECOND_PER_USER: '1' });
    const [ida, ben] = [await provider.sign({ sub: 'ida' }), await provider.sign({ sub: 'ben' })];
    const responses = await Promise.all(Array.from({ length: 30 }, () => post(ida)));
    const refused = responses.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 15, `${refused.length} of 30`);
    assert.ok(responses.every(({ status }) => status === 200 || status === 429));
    assert.deepEqual(await refusalOf(refused[0]!), {
      status: 429,
      retryAfter: '1',
      message: 'This user sends too many requests (a tenth of MAX_REQUESTS_IN_FLIGHT a second, at least 100)',
      code: 'TOO_MANY_REQUESTS',
      retryAfterMs: 1000,
    });
    assert.equal(await metric('crier_refusals_total{reason="user_request_rate"}'), refused.length);
    assert.equal((await post(ben)).status, 200);
    assert.equal((await post()).status, 200);
  });

  it('charge requests without an accepted token to their address, also where a proxy is trusted (S-21)', async (t) => {
    const { provider, post, metric, log } = await startCrier(t, { MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1' });
    const responses = await Promise.all(Array.from({ length: 30 }, () => post('a.bad.token')));
    const refused = responses.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 15, `${refused.length} of 30`);
    assert.ok(responses.every(({ status }) => status === 401 || status === 429));
    assert.equal(await metric('crier_refusals_total{reason="address_request_rate"}'), refused.length);
    assert.equal((await post(await provider.sign())).status, 200, 'whoever has a token is not charged to the address');
    assert.doesNotMatch(log.join(''), /TRUSTED_PROXIES/);
    const behindBalancer = { 'x-forwarded-for': '192.0.2.1' };
    await waitFor('a refusal', async () => (await post(undefined, '{ me }', behindBalancer)).status === 429);
    assert.match(log.join(''), /name it in TRUSTED_PROXIES/);
  });

  it('charge a revoked token of a router to its address', async (t) => {
    const settings = { MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1', ROUTERS: 'role:router' };
    const { provider, post, adminPort } = await startCrier(t, settings);
    const token = await provider.sign({ sub: 'router', role: 'router' });
    const statuses = async () => {
      const responses = await Promise.all(Array.from({ length: 30 }, () => post(token)));
      return [...new Set(responses.map(({ status }) => status))].toSorted((a, b) => a - b);
    };
    assert.deepEqual(await statuses(), [200]);
    const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/connections/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"sub":"router"}',
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(await statuses(), [401, 429]);
  });

  it('count each client of a trusted proxy by itself', async (t) => {
    const settings = { MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1', TRUSTED_PROXIES: '127.0.0.1' };
    const { post } = await startCrier(t, settings);
    const from = (address: string) => post(undefined, '{ me }', { 'x-forwarded-for': address });
    await waitFor('a refusal', async () => (await from('192.0.2.1')).status === 429);
    assert.equal((await from('192.0.2.2')).status, 200);
  });

  it('ask the graph about no request that they refuse', async (t) => {
    const context = 'let count = 0; export function authenticate() { return { sub: String(++count) }; }';
    const { provider, post } = await startCrier(t, { MAX_REQUESTS_PER_SECOND_PER_USER: '1' }, context);
    const token = await provider.sign();
    const responses = await Promise.all(Array.from({ length: 30 }, () => post(token)));
    const served = responses.filter(({ status }) => status === 200).length;
    assert.deepEqual(await (await post()).json(), { data: { me: String(served + 1) } });
  });

  it('bound the requests in flight of a user and of the pod', async (t) => {
    const settings = { MAX_REQUESTS_IN_FLIGHT: '3', MAX_REQUESTS_IN_FLIGHT_PER_USER: '2' };
    const { provider, post, write, metric } = await startCrier(t, settings);
    const [ida, ben] = [await provider.sign({ sub: 'ida' }), await provider.sign({ sub: 'ben' })];
    const inFlight = (count: number) =>
      waitFor(`${count} requests`, async () => (await metric('crier_requests_in_flight')) === count);
    // Asked for its body, a request counts for its user.
    const begin = async (token: string) => {
      const one = await write(`${HEAD}Authorization: Bearer ${token}\r\nExpect: 100-continue\r\n\r\n`);
      await waitFor('the wish for its body', () => one.reply.text.startsWith('HTTP/1.1 100 '));
      return one;
    };
    const begun = [await begin(ida), await begin(ida)];
    const { message } = await refusalOf(await post(ida));
    assert.equal(message, 'This user has too many requests in flight (a tenth of MAX_REQUESTS_IN_FLIGHT)');
    assert.equal((await post(ben)).status, 200);
    await inFlight(2);
    begun.push(await begin(ben));
    await inFlight(3);
    const full = await refusalOf(await post());
    assert.deepEqual([full['status'], full['retryAfter'], full['code']], [503, '1', 'OVERLOADED']);
    for (const { socket, reply } of begun) {
      socket.write(BODY);
      await waitFor('its answer', () => reply.text.includes('{"data":{"me":'));
    }
    await inFlight(0);
    assert.equal((await post(ida)).status, 200);
    assert.equal(await metric('crier_refusals_total{reason="requests"}'), 1);
    assert.equal(await metric('crier_requests_total'), 6);
    assert.equal(await metric('crier_refusals_total{reason="user_requests"}'), 1);
  });

  it('release a request whose client disconnects while its token is verified', async (t) => {
    const { provider, post, write, metric } = await startCrier(t, { MAX_REQUESTS_IN_FLIGHT_PER_USER: '1' });
    const { answer } = provider;
    const held: (() => void)[] = [];
    provider.answer = (...args) => void held.push(() => answer(...args));
    await provider.rotate();
    const token = await provider.sign();
    const { socket } = await write(`${HEAD}Authorization: Bearer ${token}\r\n\r\n${BODY}`);
    await waitFor('the fetch of its key', () => held.length > 0);
    socket.resetAndDestroy();
    provider.answer = answer;
    for (const release of held) release();
    await waitFor('its end', async () => (await metric('crier_requests_in_flight')) === 0);
    assert.equal((await post(token)).status, 200);
    assert.equal((await post(token)).status, 200);
  });

  it('keep half of the pod for users while strangers send their bodies slowly', async (t) => {
    const { provider, post, write, metric } = await startCrier(t, { MAX_REQUESTS_IN_FLIGHT: '4' });
    for (let i = 0; i < 2; i++) await write(`${HEAD}\r\n{`);
    await waitFor('two requests', async () => (await metric('crier_requests_in_flight')) === 2);
    assert.equal((await post()).status, 503);
    assert.equal((await post(await provider.sign())).status, 200);
  });

  it('answer 503 and charge no address while the keys of tokens cannot be fetched', async (t) => {
    const { provider, post, metric } = await startCrier(t, { MAX_REQUESTS_PER_SECOND_PER_ADDRESS: '1' });
    provider.answer = (response) => void response.destroy();
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => provider.sign({}, { kid: `new-${i}` })));
    const responses = await Promise.all(tokens.map((token) => post(token)));
    assert.ok(responses.every(({ status }) => status === 503));
    assert.equal(await metric('crier_authentication_failures_total{reason="keys_unavailable"}'), 20);
    assert.equal((await post()).status, 200);
  });

  it('keep room for others while one address sends its bodies slowly', async (t) => {
    const { provider, post, write, metric } = await startCrier(t, { MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS: '2' });
    const slow = [await write(`${HEAD}\r\n{`), await write(`${HEAD}\r\n{`)];
    await waitFor('two requests', async () => (await metric('crier_requests_in_flight')) === 2);
    const { reply } = await write(`${HEAD}\r\n{`);
    await waitFor('a reply', () => reply.text.startsWith('HTTP/1.1 429 '));
    assert.equal((await post(await provider.sign())).status, 200);
    for (const { socket } of slow) socket.destroy();
    await waitFor('their ends', async () => (await metric('crier_requests_in_flight')) === 0);
    assert.equal((await post()).status, 200);
  });
});

describe('a request whose headers decide', () => {
  const chunked =
    'POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
  const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
  const cases: readonly (readonly [what: string, head: string, status: number])[] = [
    ['has no token', chunked, 401],
    ['has a token that is not accepted', `${chunked}Authorization: Bearer a.bad.token\r\n`, 401],
    ['comes from a foreign page', `${chunked}Origin: https://evil.example\r\n`, 403],
    ['has another method', chunked.replace('POST', 'PATCH'), 405],
    ['is a preflight', chunked.replace('POST', 'OPTIONS'), 204],
    ['asks for GraphiQL', `${chunked.replace('POST /graphql', 'GET /')}Accept: text/html\r\n`, 200],
    ['asks for a file of GraphiQL', chunked.replace('POST /graphql', 'GET /graphiql/page.css'), 200],
    ['has another content type', chunked.replace('application/json', 'text/plain'), 415],
    ['names another path', chunked.replace('/graphql', '/nothing'), 404],
    ['names a long body', chunked.replace('Transfer-Encoding: chunked', 'Content-Length: 100000000'), 413],
  ];
  for (const [what, head, status] of cases) {
    it(`is answered without its body, if it ${what}`, async (t) => {
      const { write } = await startCrier(t, { AUTH: 'required' });
      const { socket, reply } = await write(`${head}\r\n`);
      await waitFor('a reply', () => reply.text.startsWith(`HTTP/1.1 ${status} `));
      const before = socket.bytesWritten;
      await waitFor('the end', () => reply.isClosed || !socket.write(chunk));
      await waitFor('the close', () => reply.isClosed);
      assert.ok(socket.bytesWritten - before < 1_000_000, 'the rest is not read');
    });
  }

  it('receives 100 Continue only with an accepted token', async (t) => {
    const { write, provider } = await startCrier(t, { AUTH: 'required' });
    const head = `${HEAD}Expect: 100-continue\r\n`;
    const stranger = await write(`${head}\r\n`);
    await waitFor('a reply', () => stranger.reply.isClosed);
    assert.match(stranger.reply.text, /^HTTP\/1\.1 401 /);
    const user = await write(`${head}Authorization: Bearer ${await provider.sign()}\r\n\r\n`);
    await waitFor('the wish for the body', () => user.reply.text === 'HTTP/1.1 100 Continue\r\n\r\n');
    user.socket.write(BODY);
    await waitFor('the answer', () => user.reply.text.includes('{"data":{"me":"ida"}}'));
  });

  it('is not asked for its body in HTTP/1.0, which has no 100 (Continue)', async (t) => {
    const { write } = await startCrier(t);
    const { reply } = await write(`${HEAD.replace('HTTP/1.1', 'HTTP/1.0')}Expect: 100-continue\r\n\r\n${BODY}`);
    await waitFor('the answer', () => reply.isClosed);
    assert.match(reply.text, /^HTTP\/1\.1 200 /);
  });

  it('keeps its connection if its body is short', async (t) => {
    const { write } = await startCrier(t, { AUTH: 'required' });
    const { socket, reply } = await write(`${HEAD}\r\n${BODY}`);
    await waitFor('a reply', () => reply.text.includes('Token missing'));
    socket.write(`${HEAD}\r\n${BODY}`);
    await waitFor('another', () => reply.text.split('HTTP/1.1 401 ').length === 3);
    assert.ok(!reply.isClosed);
  });
});

describe('a request that takes long to begin', () => {
  it('is refused if its token was revoked or has expired meanwhile', async (t) => {
    const { provider, write, adminPort } = await startCrier(t, { JWT_CLOCK_TOLERANCE_MS: '0' });
    const begin = async (claims: JWTPayload) =>
      write(`${HEAD}Authorization: Bearer ${await provider.sign(claims)}\r\nExpect: 100-continue\r\n\r\n`);
    const expiresAt = Math.floor(Date.now() / 1000) + 2;
    const [revoked, expired, valid] = [
      await begin({ sub: 'ida' }),
      await begin({ sub: 'ben', exp: expiresAt }),
      await begin({ sub: 'carl' }),
    ];
    for (const { reply } of [revoked, expired, valid])
      await waitFor('its authentication', () => reply.text === 'HTTP/1.1 100 Continue\r\n\r\n');
    const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/connections/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"sub":"ida"}',
    });
    assert.equal(answer.status, 200, await answer.text());
    await waitFor('the expiry', () => Date.now() >= expiresAt * 1000);
    for (const { socket } of [revoked, expired, valid]) socket.write(BODY);
    await waitFor(
      'the refusals',
      () => revoked.reply.text.includes('"Revoked"') && expired.reply.text.includes('"Token expired"'),
    );
    await waitFor('the answer', () => valid.reply.text.includes('{"data":{"me":"carl"}}'));
    for (const { reply } of [revoked, expired]) assert.match(reply.text, /HTTP\/1\.1 401 .*invalid_token/s);
  });
});
