import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { startServer } from '../../src/server.ts';
import type { Server } from '../../src/server.ts';
import { logLines } from '../bus/log-lines.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { metricOf } from '../support/metric.ts';
import { watch } from '../support/stock-client.ts';
import { testConfig } from '../support/switches.ts';

type Files = Readonly<Record<string, string>>;

/** Each item is a topic's latest number, which the mutation `put` publishes. */
export const SCHEMA = `
  type Item { id: ID! n: Int! label: String group: String }
  type Written { offset: String }
  type Query { version: String }
  input ItemInput { id: ID! n: Int! group: String }
  type Mutation { put(input: ItemInput!): Written @kafkaPublish(topic: "items", key: "input.id") }
  type Subscription {
    item(id: ID!): Item @kafka(topic: "items", match: [{ arg: "id", path: "id" }])
    items(group: String): Item @kafka(topic: "items", match: [{ arg: "group", path: "group" }])
    own: Item
  }`;

/** Resolvers that name their version in each result. */
export function resolversOf(version: string, more = ''): string {
  return `
    export const Item = { label: () => '${version}' };
    export const Query = { version: () => '${version}' };
    export const Subscription = { own: { subscribe: async function* () {
      yield { own: { id: 'own', n: 0 } };
      await new Promise(() => {});
    } } };
    ${more}`;
}

/** crier in this process, with a graph folder that the test changes. @param files an empty text: there is no such file */
export async function reloadStage(t: TestContext, files: Files, settings: Readonly<Record<string, string>> = {}) {
  const all = { 'schema.graphql': SCHEMA, 'resolvers.js': resolversOf('first'), ...files };
  const folder = await graphFolder(t, Object.fromEntries(Object.entries(all).filter(([, text]) => text !== '')));
  const { log, lines } = logLines();
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', GRAPH: folder, ...settings });
  const server: Server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const endpoint = `http://127.0.0.1:${server.port}/graphql`;
  const admin = `http://127.0.0.1:${server.adminPort}`;
  const query = async (text: string, variables: object = {}) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    });
    return (await response.json()) as { data?: Record<string, unknown>; errors?: { message: string }[] };
  };
  return {
    folder,
    server,
    lines,
    admin,
    query,
    watch: (text: string, variables?: Record<string, unknown>, params?: Record<string, unknown>) =>
      watch(t, `ws://127.0.0.1:${server.port}/graphql`, text, variables, params && { connectionParams: params }),
    /** Publishes a record. */
    put: async (id: string, n: number, group?: string) => {
      const input = { id, n, ...(group !== undefined && { group }) };
      const { errors } = await query('mutation ($input: ItemInput!) { put(input: $input) { offset } }', { input });
      assert.equal(errors, undefined);
    },
    /** Writes files of the folder. */
    change: async (changed: Files) => {
      for (const [name, text] of Object.entries(changed)) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await writeFile(join(folder, name), text);
      }
    },
    metric: (name: string) => metricOf(admin, name),
    ready: async () => (await (await fetch(`${admin}/readyz`)).json()) as Record<string, unknown>,
  };
}
