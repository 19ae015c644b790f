import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { startServer } from '../../../src/server.ts';
import { createLog } from '../../../src/base/log.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { AUDIENCE, ISSUER, IdentityProvider } from './identity-provider.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { me: Me open: String }
    type Me @authenticated { sub: String mail: String @requiresScopes(scopes: [["mail:read"]]) }
    type Subscription {
      orders: Order @kafka(topic: "orders", where: [{ claim: "https://crier.test/tenant", path: "order.tenant" }], payload: "order")
      audit: Order @requiresScopes(scopes: [["audit"]]) @kafka(topic: "orders", payload: "order")
    }
    type Order { id: ID tenant: String total: Int @requiresScopes(scopes: [["orders:read", "money"], ["admin"]]) }`,
  'resolvers.js': `
    export const Query = {
      me: (_, __, { connection }) => ({ sub: connection.claims.sub, mail: 'me@crier.test' }),
      open: () => 'open',
    };`,
  'samples.js': `
    export function* records() {
      for (let id = 1; ; id++) {
        for (const tenant of ['acme', 'other']) yield { topic: 'orders', value: { order: { id, tenant, total: id } } };
      }
    }`,
};
const TENANT = 'https://crier.test/tenant';

/** An embedded crier that accepts tokens of a provider, and no token. */
async function stage(t: TestContext) {
  const provider = await IdentityProvider.start(t);
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: await graphFolder(t, GRAPH),
    AUTH: 'optional',
    JWT_JWKS_URL: provider.url,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
  });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const headersOf = async (claims?: Record<string, unknown>) =>
    claims ? { authorization: `Bearer ${await provider.sign(claims)}` } : undefined;
  return {
    post: async (query: string, claims?: Record<string, unknown>): Promise<unknown> => {
      const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(await headersOf(claims)) },
        body: JSON.stringify({ query }),
      });
      return response.json();
    },
    subscribe: async (query: string, claims?: Record<string, unknown>) => {
      const headers = await headersOf(claims);
      const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`, { ...(headers && { headers }) });
      await socket.init();
      socket.send({ type: 'subscribe', id: '1', payload: { query } });
      return socket;
    },
  };
}

interface Next {
  readonly data: { readonly orders: Record<string, unknown> };
  readonly errors?: readonly { readonly path: unknown; readonly extensions: object }[];
}

describe('authorisation by the claims of a token', () => {
  it('holds for queries over POST, field by field', async (t) => {
    const { post } = await stage(t);
    const query = '{ open me { sub mail } }';
    assert.deepEqual(await post(query), {
      errors: [
        { message: 'Not authenticated to read "Query.me".', path: ['me'], extensions: { code: 'UNAUTHENTICATED' } },
      ],
      data: { open: 'open', me: null },
    });
    assert.deepEqual(await post(query, { sub: 'ida', scope: 'mail' }), {
      errors: [{ message: 'Not allowed to read "Me.mail".', path: ['me', 'mail'], extensions: { code: 'FORBIDDEN' } }],
      data: { open: 'open', me: { sub: 'ida', mail: null } },
    });
    assert.deepEqual(await post(query, { sub: 'ida', scope: 'openid mail:read' }), {
      data: { open: 'open', me: { sub: 'ida', mail: 'me@crier.test' } },
    });
  });

  it('refuses a subscription with error and the code, and the connection stays', async (t) => {
    const { subscribe } = await stage(t);
    for (const [claims, code] of [
      [undefined, 'UNAUTHENTICATED'],
      [{ sub: 'ida', scope: 'audits' }, 'FORBIDDEN'],
    ] as const) {
      const socket = await subscribe('subscription { audit { id } }', claims);
      const { type, payload } = await socket.next();
      const [error] = payload as { extensions: { code: string }; path: unknown }[];
      assert.deepEqual([type, error!.extensions.code, error!.path], ['error', code, ['audit']]);
      await socket.roundTrip();
    }
    const socket = await subscribe('subscription { audit { id } }', { sub: 'ida', scp: ['audit'] });
    assert.equal((await socket.next()).type, 'next');
  });

  it('delivers only the events of the tenant that the token names, and of these the fields that its scopes allow', async (t) => {
    const { subscribe } = await stage(t);
    const query = 'subscription { orders { tenant total } }';
    const cases = [
      ['acme', 'orders:read money', true],
      ['other', 'admin', true],
      ['acme', 'orders:read', false],
    ] as const;
    await Promise.all(
      cases.map(async ([tenant, scope, isAllowed]) => {
        const socket = await subscribe(query, { sub: 'ida', [TENANT]: tenant, scope });
        for (let i = 0; i < 5; i++) {
          const { data, errors } = (await socket.next()).payload as Next;
          assert.equal(data.orders['tenant'], tenant);
          assert.equal(typeof data.orders['total'], isAllowed ? 'number' : 'object');
          assert.equal(errors?.length, isAllowed ? undefined : 1);
        }
      }),
    );
  });

  it('refuses a subscription whose token names no tenant', async (t) => {
    const { subscribe } = await stage(t);
    for (const claims of [undefined, { sub: 'ida' }, { sub: 'ida', [TENANT]: ['acme', 'other'] }]) {
      const socket = await subscribe('subscription { orders { id } }', claims);
      const { type, payload } = await socket.next();
      assert.equal(type, 'error');
      assert.equal((payload as { extensions: { code: string } }[])[0]!.extensions.code, 'FORBIDDEN');
    }
  });
});

describe('a graph that needs claims', () => {
  const start = async (t: TestContext, files: Record<string, string>, settings: Record<string, string> = {}) => {
    const config = testConfig({
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      GRAPH: await graphFolder(t, { ...GRAPH, ...files }),
      ...settings,
    });
    const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
    t.after(() => server.close());
  };

  it('stops the start if nothing gives connections claims, with the place and the fix', async (t) => {
    const expected =
      /^(Subscription\.orders|Query\.me) is only for connections with claims, .*JWT_JWKS_URL, .* or export authenticate from context\.ts$/;
    await assert.rejects(start(t, {}), { code: 'ERR_GRAPH', message: expected });
    const settings = { JWT_SECRET: 'x'.repeat(64), JWT_ALGORITHMS: 'HS256', AUTH: 'none' };
    await assert.rejects(start(t, {}, settings), { message: expected });
  });

  it('starts with an authenticate of its own', (t) =>
    start(t, { 'context.js': "export const authenticate = () => ({ sub: 'ida' });" }));
});
