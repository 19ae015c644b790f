import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { AUDIENCE, ISSUER, IdentityProvider } from './identity-provider.ts';

/** Each tick says when it was executed, and for whom. */
const GRAPH = {
  'schema.graphql': `
    type Query { me: String tenant: String forwarded: String kept: String }
    type Subscription { tick: Tick @kafka(topic: "ticks") }
    type Tick { at: Float tenant: String }
  `,
  'resolvers.js': `
    const tenant = (_, __, { connection }) => connection.claims.tenant;
    export const Query = {
      me: (_, __, { connection }) => connection.claims.sub,
      tenant,
      kept: (_, __, { loaders }) => loaders.kept,
      forwarded: async (_, __, { backends }) => (await backends.mirror.get('/')).authorization,
    };
    export const Tick = { at: () => Date.now(), tenant };
  `,
  'samples.js': 'export function* records() { for (;;) yield { topic: "ticks", value: {} }; }',
};

export const TICKS = 'subscription { tick { at tenant } }';

/** The data of a tick. */
export interface Tick {
  readonly tick: { readonly at: number; readonly tenant: string | null };
}

/** An embedded crier that accepts tokens of a provider. Ticks come every 20 ms. */
export async function stage(t: TestContext, settings: Readonly<Record<string, string>> = {}, context?: string) {
  const provider = await IdentityProvider.start(t);
  const log: string[] = [];
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    SAMPLE_INTERVAL_MS: '20',
    GRAPH: await graphFolder(t, { ...GRAPH, ...(context !== undefined && { 'context.js': context }) }),
    JWT_JWKS_URL: provider.url,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    ...settings,
  });
  const logger = pino({ level: 'debug' }, { write: (line) => void log.push(line) });
  const server = await startServer(config, logger, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const http = `http://127.0.0.1:${server.port}/graphql`;
  const url = `ws://127.0.0.1:${server.port}/graphql`;
  return {
    provider,
    log,
    url,
    /** Of the endpoint, over HTTP. */
    endpoint: http,
    adminPort: server.adminPort,
    connect: (headers: Readonly<Record<string, string>> = {}, query = '') =>
      openSocket(t, `${url}${query}`, { headers }),
    post: (headers: Readonly<Record<string, string>> = {}, query = '') =>
      fetch(`${http}${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"query":"{ me }"}',
      }),
  };
}
