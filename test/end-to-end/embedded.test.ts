import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cp, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema, IntrospectionQuery } from 'graphql';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { everyField, innermost } from '../graphs/auction/auction-graph.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { watch } from '../support/stock-client.ts';
import type { Data, Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from './pod.ts';
import { endedNodeLine } from '../../src/config/node-line.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

/** The promise is 5 s. The margin is for a machine that runs other tests. */
const FIRST_EVENT_MS = 15_000;

/** The subscription that `npm start` prints last. */
function printedOperation(pod: Pod): string {
  return /A subscription to start with:\s+([^]+)$/.exec(pod.output)![1]!.trim();
}

describe('crier without settings', () => {
  it('prints its addresses, on a line of standard output', async (t) => {
    const pod = await spawnPod(t, {}).started();
    const [port, adminPort] = [pod.endpoint, pod.admin].map((url) => new URL(url).port);
    const { time, pod: name, version, ...line } = JSON.parse(pod.output) as Record<string, string>;
    assert.ok(Date.parse(time!) && name && version);
    assert.deepEqual(line, {
      level: 'info',
      role: 'all',
      graph: 'auction',
      isEmbedded: true,
      addresses: {
        graphiql: `http://127.0.0.1:${port}/`,
        websocket: `ws://127.0.0.1:${port}/graphql`,
        http: `http://127.0.0.1:${port}/graphql`,
        admin: `http://127.0.0.1:${adminPort}/`,
      },
      msg: 'ready',
    });
    const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html' } });
    assert.match(await page.text(), /<title>auction<\/title>/);
    for (const path of ['healthz', 'readyz', 'metrics'])
      assert.equal((await fetch(`${pod.admin}/${path}`)).status, 200);
    assert.deepEqual(
      pod.lines.map(({ msg }) => msg),
      [endedNodeLine(process.version)].filter((line) => line !== undefined),
    );
  });

  it('delivers the first event of the printed subscription at once', async (t) => {
    const startedAt = performance.now();
    const pod = await startPod(t, {});
    const operation = printedOperation(pod);
    assert.match(operation, /^subscription WatchAuction \{\n[^]*\n {2}\}$/);
    const subscription = watch(t, pod.url, operation);
    const { auction_updated: auction } = (await subscription.event()) as { auction_updated: Record<string, unknown> };
    const firstEventMs = performance.now() - startedAt;
    t.diagnostic(`first event ${Math.round(firstEventMs)} ms after the start`);
    assert.ok(firstEventMs < FIRST_EVENT_MS, `${firstEventMs} ms`);
    assert.equal(auction['auction_id'], 3005177);
    assert.match((auction['venue'] as { name: string }).name, /\w/);
    await subscription.event(3);
    assert.deepEqual(subscription.failures, []);
  });

  it('delivers every field of every subscription without errors, also fields from backends', async (t) => {
    const pod = await startPod(t, {
      SAMPLE_INTERVAL_MS: '200',
      MAX_QUERY_DEPTH: '12',
      MAX_QUERY_TOKENS: '5000',
      // With DISABLE=compact-ast, a document of every field weighs more than the default.
      MAX_CONNECTION_BYTES: '4194304',
      BACKEND_TIMEOUT_MS: '30000',
      EXECUTION_TIMEOUT_MS: '60000',
    });
    const schema = await introspect(pod);
    const fields = Object.values(schema.getSubscriptionType()!.getFields());
    const watchField = (name: string, args = '', variables?: Data, definitions = '') => {
      const type = innermost(schema.getSubscriptionType()!.getFields()[name]!.type) as GraphQLObjectType;
      return watch(t, pod.url, `subscription ${definitions} { event: ${name}${args} ${everyField(type)} }`, variables);
    };
    // Each listing has few events, so this also watches listings that appear later. One document for all: a pod refuses large new ones
    // while the machine is busy.
    const watchListing = (_: unknown, i: number) =>
      watchField('listing_status_changed', '(listing_id: $id)', { id: `L-${3005180 + i}` }, '($id: ID!)');
    const watchers: Record<string, () => Watch[]> = {
      auction_updated: () => [watchField('auction_updated', '(auction_id: 3005177)')],
      auctions_updated: () => [watchField('auctions_updated')],
      bid_placed: () => [watchField('bid_placed', '(auction_id: 3005177)')],
      listing_status_changed: () => Array.from({ length: 30 }, watchListing),
      catalogue_updated: () => [watchField('catalogue_updated')],
    };
    assert.deepEqual(Object.keys(watchers).sort(), fields.map(({ name }) => name).sort());
    // One field at a time: an event causes some hundred executions and backend requests, and those of all would pile up on a busy machine.
    for (const start of Object.values(watchers)) {
      const watches = start();
      const { event } = await Promise.any(watches.map((one) => one.event(1, 60_000)));
      assert.deepEqual(emptyOnes(event), []);
      for (const { failures } of watches) assert.deepEqual(failures, []);
      await Promise.all(watches.map(async (one) => one.close()));
    }
  });

  it('exits with 0 on SIGTERM and Ctrl-C, with a close code on which clients reconnect', async (t) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const pod = await spawnPod(t, {}).started();
      const subscription = watch(t, pod.url, 'subscription { auction_updated(auction_id: 3005177) { auction_id } }');
      await subscription.event();
      pod.process.kill(signal);
      assert.equal(await pod.ended, 0);
      assert.equal(await subscription.closed(), 1001);
    }
  });
});

describe('a resolver that fails after a null has already failed its list', () => {
  const schema = `
    type Subscription { order_updated: Order @kafka(topic: "orders") }
    type Order { lines: [Line!] }
    type Line { name: String! price: Float! }`;
  // The second line fails at once, so graphql-js does not wait for the first line's price.
  const samples = `
    const lines = [{ name: 'a clock' }, { name: null }];
    export function* records() { for (;;) yield { topic: 'orders', value: { lines } }; }`;
  const resolvers = `
    export const Line = {
      price: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        throw new Error('the price list is unavailable');
      },
    };`;

  // The operation is compiled after its third execution.
  for (const [DISABLE, results] of [
    ['jit', 4],
    ['', 7],
  ] as const) {
    it(`ends only its own execution, DISABLE=${DISABLE}`, async (t) => {
      const files = { 'schema.graphql': schema, 'samples.ts': samples, 'resolvers.ts': resolvers };
      const settings = { GRAPH: await graphFolder(t, files), SAMPLE_INTERVAL_MS: '50', DISABLE };
      const pod = await spawnPod(t, settings).started();
      const { failures } = watch(t, pod.url, 'subscription { order_updated { lines { name price } } }');
      await waitFor(`${results} results`, () => failures.length >= results);
      for (const failure of failures) assert.match(failure, /"path":\["order_updated","lines",1,"name"\]/);
      await pod.until('the reason in the log', () => pod.log.includes('the price list is unavailable'));
      assert.equal((await fetch(`${pod.admin}/healthz`)).status, 200);
    });
  }
});

describe('npm start', () => {
  it('forwards SIGTERM, so that no process remains', async (t) => {
    // Skips prestart, which would rebuild dist while other tests use it.
    const npm = spawn('npm', ['start', '--ignore-scripts'], {
      env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    t.after(() => npm.kill('SIGKILL'));
    const address = () => /"admin":"(http:[^"]+)"/.exec(output)?.[1];
    await waitFor('the line `ready`', address, 60_000);
    npm.kill('SIGTERM');
    await waitFor('the server to have stopped', async () => !(await fetch(address()!).catch(() => undefined)));
  });
});

describe('crier in a folder whose name needs escaping in URLs', () => {
  it('finds its own graph', async (t) => {
    const folder = join(await temporaryFolder(t), 'a blank, 100% & é #1');
    for (const part of ['dist/src', 'dist/examples', 'plugins', 'package.json', 'babel.config.js']) {
      await cp(part, join(folder, part), { recursive: true, dereference: true });
    }
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await spawnPod(t, {}, { main: join(folder, 'dist', 'src', 'main.js') }).started();
  });
});

async function introspect(pod: Pod): Promise<GraphQLSchema> {
  const response = await fetch(pod.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  });
  return buildClientSchema(((await response.json()) as { data: IntrospectionQuery }).data);
}

/** Names of the backend objects that are null. */
function emptyOnes(event: unknown): string[] {
  return ['seller', 'venue', 'property', 'bidder'].filter((name) => (event as Record<string, unknown>)[name] === null);
}
