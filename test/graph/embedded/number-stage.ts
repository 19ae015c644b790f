import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../support/graph-folder.ts';
import { metricOf } from '../../support/metric.ts';
import { openSocket } from '../../support/socket.ts';
import type { Scope, Socket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const SECRET = 'a secret of this test, of 32 bytes';

const GRAPH = {
  'schema.graphql': `
    type Query {
      echo(id: ID, number: Float, in: Numbers, big: BigInt = 0, long: Long, any: Any): String
      now(id: ID!): Row @state(of: "kept")
      bigNow(n: BigInt!): Row @state(of: "keptBig")
      own(n: BigInt, of: [Long]): Big
    }
    type Mutation { say(n: BigInt!): Boolean }
    scalar BigInt
    scalar Long
    scalar Any
    type Big { n: BigInt of: [Long] }
    input Numbers { of: [Float!] id: ID }
    type Subscription {
      row(id: ID): Row @kafka(topic: "t", match: [{ arg: "id", path: "id" }])
      mine: Row @kafka(topic: "t", where: [{ claim: "tenant", path: "tenant" }])
      own(id: ID!): Row
        @kafka(topic: "t", match: [{ arg: "id", path: "id" }], where: [{ claim: "tenant", path: "tenant" }], state: {})
      kept(id: ID!): Row @kafka(topic: "t", match: [{ arg: "id", path: "id" }], state: {})
      equal(id: ID): Row @kafka(topic: "t", where: [{ arg: "id", path: "id", op: EQ }])
      among(ids: [ID!]): Row @kafka(topic: "t", where: [{ arg: "ids", path: "id", op: IN }])
      above(n: Float): Row @kafka(topic: "t", where: [{ arg: "n", path: "n", op: GT }])
      owned: Row @kafka(topic: "t")
      big(n: BigInt): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }])
      long(n: Long): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }])
      any(n: Any): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }])
      keptBig(n: BigInt!): Row @kafka(topic: "t", match: [{ arg: "n", path: "id" }], state: {})
      aboveBig(n: BigInt): Row @kafka(topic: "t", where: [{ arg: "n", path: "id", op: GT }])
      byKey(key: BigInt!): Row @kafka(topic: "t", match: [{ arg: "key", key: true }])
      said(n: BigInt!): Said @redis(channel: "said.{n}")
    }
    type Row { id: ID tenant: ID name: String n: Float owner_only: String text: String big: BigInt }
    type Said { n: ID }
  `,
  'resolvers.js': `
    export const Query = { echo: (_, args) => JSON.stringify(args), own: (_, args) => args };
    export const Mutation = {
      say: (_, { n }, { pubsub }) => pubsub.publish('said.' + n, { n }).then(() => true),
    };
    export const Row = {
      owner_only: ({ tenant, name }, _, { connection }) => (String(tenant) === String(connection.claims.tenant) ? name : null),
    };
  `,
};

/** The embedded mode, with a graph that compares numbers in each way. */
export async function startNumbers(t: Scope) {
  const config = testConfig({
    ...{ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'silent', JWT_SECRET: SECRET },
    GRAPH: await graphFolder(t, GRAPH),
  });
  const server = await startServer(config, createLog('silent'), {
    isFed: true,
    onFatal: (error) => assert.fail(error),
  });
  t.after(() => server.close());
  const metric = (name: string) => metricOf(`http://127.0.0.1:${server.adminPort}`, name);
  return {
    /** Those that run. */
    operations: () => metric('crier_operations'),
    url: `http://127.0.0.1:${server.port}/graphql`,
    /** @param tenant JSON text of the claim */
    open: async (tenant: string): Promise<Socket> => {
      const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`);
      await socket.init({ token: tokenOf(tenant) });
      return socket;
    },
    /** Subscribes with variables as JSON text. */
    subscribe: async (socket: Socket, query: string, variables = '{}'): Promise<void> => {
      const text = JSON.stringify({ id: query, type: 'subscribe', payload: { query } });
      const before = await metric('crier_subscriptions');
      socket.send(text.replace(/}}$/, `,"variables":${variables}}}`));
      // An operation counts while its document waits: events of that time are not for it.
      await waitFor('the subscription', async () => (await metric('crier_subscriptions')) === before + 1);
    },
    publish: (text: string, key = 'k') =>
      server.embedded!.append('t', { key: Buffer.from(key), value: Buffer.from(text) }),
  };
}

/** Signed here: a library would round the claim. @param tenant JSON text of the claim */
export function tokenOf(tenant: string): string {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const signed = `${encode('{"alg":"HS256"}')}.${encode(`{"sub":"ida","exp":${exp},"tenant":${tenant}}`)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}
