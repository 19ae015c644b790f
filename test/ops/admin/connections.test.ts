import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { JWTPayload } from 'jose';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { ISSUER, fromNow } from '../../gateway/identity/identity-provider.ts';
import { stage } from '../../gateway/identity/stage.ts';
import { metricOf } from '../../support/metric.ts';
import { waitFor } from '../../support/wait-for.ts';

const ADMIN_TOKEN = 't'.repeat(32);

/** An embedded crier, as an operator and clients see it. */
async function operated(t: TestContext, settings: Readonly<Record<string, string>> = {}, context?: string) {
  const crier = await stage(t, { POD_NAME: 'this-pod', ...settings }, context);
  const admin = `http://127.0.0.1:${crier.adminPort}`;
  const read = async (response: Response) => {
    const text = await response.text();
    return { status: response.status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Reply };
  };
  return {
    admin,
    log: crier.log,
    sign: (claims: JWTPayload = {}) => crier.provider.sign(claims),
    connect: async (payload: object) => {
      const socket = await crier.connect();
      socket.send({ type: 'connection_init', payload });
      return socket;
    },
    /** A connection that is acknowledged. */
    open: async (payload: object) => {
      const socket = await crier.connect();
      await socket.init(payload);
      return socket;
    },
    post: (token: string) => crier.post({ authorization: `Bearer ${token}` }),
    revoke: async (body: object | string, headers: Readonly<Record<string, string>> = {}) =>
      read(
        await fetch(`${admin}/admin/connections/revoke`, {
          method: 'POST',
          headers,
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    list: async (query: string) => read(await fetch(`${admin}/admin/connections?${query}`)),
  };
}

interface Reply {
  readonly closed?: number;
  readonly until?: string | null;
  readonly pods?: readonly { readonly pod: string; readonly closed: number }[];
  readonly silent?: readonly string[];
  readonly note?: string;
  readonly open?: number;
  readonly connections?: readonly Readonly<Record<string, unknown>>[];
}

const flags = globalThis as { asked?: boolean; go?: boolean };

/** An embedded crier whose graph authenticates nobody before `go`. */
async function authenticating(t: TestContext) {
  const context = `
    export const authenticate = async () => {
      globalThis.asked = true;
      while (!globalThis.go) await new Promise((resolve) => setTimeout(resolve, 5));
    };
  `;
  t.after(() => {
    delete flags.asked;
    delete flags.go;
  });
  const crier = await operated(t, {}, context);
  return { ...crier, token: await crier.sign(), go: () => void (flags.go = true) };
}

describe('POST /admin/connections/revoke', () => {
  it('closes the connections of a subject with 4403 and refuses its token, and no other', async (t) => {
    const { sign, open, connect, post, revoke, admin, log } = await operated(t);
    const token = await sign({ sub: 'ida' });
    const [one, two, other] = [
      await open({ token }),
      await open({ token }),
      await open({ token: await sign({ sub: 'bob' }) }),
    ];
    one.subscribe('1', 'subscription { tick { at } }');
    const { status, body } = await revoke({ sub: 'ida', reason: 'of this test' });
    assert.equal(status, 200);
    const { until, ...rest } = body;
    assert.deepEqual(rest, { closed: 2, pods: [{ pod: 'this-pod', closed: 2 }], silent: [] });
    assert.ok(Math.abs(Date.parse(until!) - Date.now() - 86_400_000) < 60_000);
    for (const socket of [one, two]) assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Revoked' });
    assert.deepEqual(await (await connect({ token })).expectClose(), { code: 4403, reason: 'Revoked' });
    const refused = await post(token);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('www-authenticate')!, /error="invalid_token"/);
    assert.deepEqual(await other.roundTrip(), []);
    assert.equal((await post(await sign({ sub: 'ida', iat: fromNow(1) }))).status, 200, 'a token issued afterwards');
    assert.equal(await metricOf(admin, 'crier_connections_revoked_total'), 2);
    assert.equal(await metricOf(admin, 'crier_authentication_failures_total{reason="token_revoked"}'), 2);
    assert.equal(await metricOf(admin, 'crier_revocations'), 1);
    const line = log.find((text) => text.includes('an operator revoked'))!;
    assert.match(line, /"reason":"of this test"/);
    assert.doesNotMatch(log.join(''), new RegExp(`"ida"|${token}`), 'no claim and no token in the log');
  });

  it('of a token id leaves other tokens of the subject', async (t) => {
    const { sign, open, revoke, post } = await operated(t);
    const [stolen, own] = [await sign({ jti: 'stolen' }), await sign({ jti: 'own' })];
    const [thief, owner] = [await open({ token: stolen }), await open({ token: own })];
    assert.equal((await revoke({ jti: 'stolen' })).body.closed, 1);
    assert.equal((await thief.expectClose()).code, 4403);
    assert.deepEqual(await owner.roundTrip(), []);
    assert.deepEqual([(await post(stolen)).status, (await post(own)).status], [401, 200]);
  });

  it('of a connection closes it, and refuses its token if that has a jti', async (t) => {
    const { sign, open, revoke, list, post } = await operated(t);
    const idOf = async (sub: string) => (await list(`sub=${sub}`)).body.connections![0]!['connection'] as string;
    const named = await sign({ sub: 'ida', jti: 'a' });
    const socket = await open({ token: named });
    const { status, body } = await revoke({ connection: await idOf('ida') });
    assert.deepEqual([status, body.closed, typeof body.until], [200, 1, 'string']);
    assert.equal((await socket.expectClose()).code, 4403);
    assert.equal((await post(named)).status, 401);
    const nameless = await sign({ sub: 'bob' });
    const second = await open({ token: nameless });
    const reply = await revoke({ connection: await idOf('bob') });
    assert.deepEqual([reply.body.closed, reply.body.until], [1, null]);
    assert.match(reply.body.note!, /may connect again/);
    assert.equal((await second.expectClose()).code, 4403);
    assert.equal((await post(nameless)).status, 200);
    assert.equal((await revoke({ connection: 'unknown' })).body.closed, 0);
  });

  it('for no time closes connections and refuses nobody', async (t) => {
    const { sign, open, revoke, post } = await operated(t);
    const token = await sign();
    const socket = await open({ token });
    const { body } = await revoke({ sub: 'ida', for: '0s' });
    assert.deepEqual([body.closed, body.until], [1, null]);
    assert.equal((await socket.expectClose()).code, 4403);
    assert.equal((await post(token)).status, 200);
  });

  it('applies to claims that the graph returns, with a token that has others or without one', async (t) => {
    const context = 'export const authenticate = ({ params, claims }) => ({ tenant: params.tenant ?? claims.org });';
    const { sign, open, connect, revoke } = await operated(t, { AUTH: 'optional' }, context);
    const token = await sign({ org: 'north' });
    const sockets = [await open({ tenant: 'north' }), await open({ token })];
    const south = await open({ tenant: 'south' });
    const { body } = await revoke({ claim: { name: 'tenant', value: 'north' } });
    assert.equal(body.closed, 2);
    for (const socket of sockets) assert.equal((await socket.expectClose()).code, 4403);
    assert.equal((await (await connect({ tenant: 'north' })).expectClose()).code, 4403);
    assert.equal((await (await connect({ token })).expectClose()).code, 4403);
    assert.deepEqual(await south.roundTrip(), []);
  });

  for (const duration of [undefined, '0s']) {
    it(`refuses a token that was revoked while the graph was asked about it, for ${duration ?? 'its life'}`, async (t) => {
      const { connect, go, revoke, token } = await authenticating(t);
      const socket = await connect({ token });
      await waitFor('the graph to be asked', () => flags.asked === true);
      assert.equal((await revoke({ sub: 'ida', for: duration })).body.closed, 0);
      go();
      assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Revoked' });
      const next = await connect({ token });
      if (duration === undefined) assert.equal((await next.expectClose()).code, 4403);
      else assert.equal((await next.next()).type, 'connection_ack');
    });
  }

  it('of a subject of one issuer leaves that of another', async (t) => {
    const { sign, open, list, revoke, post } = await operated(t);
    const token = await sign({ sub: 'ida' });
    const socket = await open({ token });
    const other = 'https://other.example';
    assert.equal((await list(`sub=ida&iss=${other}`)).body.open, 0);
    assert.equal((await revoke({ sub: 'ida', iss: other })).body.closed, 0);
    assert.deepEqual([await socket.roundTrip(), (await post(token)).status], [[], 200]);
    assert.equal((await list(`sub=ida&iss=${ISSUER}`)).body.open, 1);
    assert.equal((await revoke({ sub: 'ida', iss: ISSUER })).body.closed, 1);
    assert.equal((await socket.expectClose()).code, 4403);
    assert.equal((await post(token)).status, 401);
  });

  it('drops what waits for a slow reader', async (t) => {
    const samples = `
      export function* records() { for (let at = 0; ; at++) yield { topic: 'ticks', value: { text: 'x'.repeat(50000) } }; }
    `;
    const graph = await graphFolder(t, {
      'schema.graphql':
        'type Query { a: Int } type Subscription { tick: Tick @kafka(topic: "ticks") } type Tick { text: String }',
      'samples.js': samples,
    });
    const { sign, open, revoke, admin } = await operated(t, {
      GRAPH: graph,
      SAMPLE_INTERVAL_MS: '10',
      MAX_QUEUE_BYTES: '268435456',
    });
    const socket = await open({ token: await sign() });
    socket.subscribe('1', 'subscription { tick { text } }');
    await socket.next();
    socket.pause();
    await waitFor('bytes that wait', async () => (await metricOf(admin, 'crier_queue_bytes')) > 2_000_000, 60_000);
    await revoke({ sub: 'ida' });
    assert.equal(await metricOf(admin, 'crier_queue_bytes'), 0);
    socket.resume();
    await socket.expectClose();
  });

  it('refuses a body that is none, too long, or sent by a web page', async (t) => {
    const { revoke } = await operated(t);
    assert.deepEqual((await revoke('{')).status, 400);
    assert.match((await revoke({ user: 'ida' })).text, /"user": expected only sub/);
    assert.equal((await revoke(`{"sub":"${'x'.repeat(20_000)}"}`)).status, 413);
    assert.equal((await revoke({ sub: 'ida' }, { origin: 'https://evil.example' })).status, 403);
  });
});

describe('GET /admin/connections', () => {
  it('lists what a subject has open, without its token and its claims', async (t) => {
    const { sign, open, list } = await operated(t);
    const token = await sign({ sub: 'ida', email: 'ida@a.example' });
    const socket = await open({ token });
    await open({ token: await sign({ sub: 'bob' }) });
    socket.subscribe('1', 'subscription Mine { tick { at } }');
    socket.subscribe('2', 'subscription Mine { tick { at } }');
    await socket.roundTrip();
    const { status, body, text } = await list('sub=ida');
    const [row, ...others] = body.connections!;
    assert.deepEqual([status, body.open, body.silent, others], [200, 1, [], []]);
    const { connection, age_seconds, expires, live, ...rest } = row!;
    assert.deepEqual(rest, { pod: 'this-pod', address: '127.0.0.1', operations: 2 });
    assert.match(String(connection), /^[0-9a-f-]{36}$/);
    assert.ok(Number(age_seconds) >= 0);
    assert.ok(Date.parse(String(expires)) > Date.now());
    const [{ operation, operations }] = live as [{ operation: string; operations: number }];
    assert.deepEqual([operation, operations], ['Mine', 2]);
    assert.doesNotMatch(text, new RegExp(`a\\.example|${token.split('.')[2]}`));
    assert.equal((await list(`connection=${connection as string}`)).body.open, 1);
    assert.equal((await list('claim=email&value=ida@a.example')).body.open, 1);
    assert.equal((await list('sub=eve')).body.open, 0);
    assert.equal((await list('')).status, 400);
  });
});

describe('ADMIN_TOKEN', () => {
  it('is needed for all paths but health and metrics', async (t) => {
    const { admin, revoke } = await operated(t, { ADMIN_TOKEN });
    const statusOf = async (path: string, headers = {}) => (await fetch(`${admin}${path}`, { headers })).status;
    for (const path of ['/healthz', '/readyz', '/startupz', '/metrics']) assert.equal(await statusOf(path), 200, path);
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    for (const path of ['/admin/connections?sub=a', '/debug/operations', '/debug/connections', '/debug/tunables']) {
      assert.equal(await statusOf(path), 401, path);
      assert.equal(await statusOf(path, { authorization }), 200, path);
    }
    assert.equal(await statusOf('/debug/profile/cpu'), 401);
    assert.equal((await revoke({ sub: 'ida' })).status, 401);
    assert.equal((await revoke({ sub: 'ida' }, { authorization })).status, 200);
  });
});
