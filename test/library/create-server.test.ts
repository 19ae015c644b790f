import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createServer, defineGraph } from '../../src/library/crier.ts';
import type { Server, ServerOptions } from '../../src/library/crier.ts';
import { defineResolvers } from '../../src/library/graph.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openSocket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { metricOf } from '../support/metric.ts';

const SCHEMA = `type Subscription {
  counted(key: ID!): Counted @kafka(topic: "counts", match: [{ arg: "key", path: "key" }])
}
type Counted { key: ID, n: Int, text: String }
`;

async function start(t: TestContext, options: ServerOptions): Promise<Server> {
  const server = await createServer({ host: '127.0.0.1', port: 0, logLevel: 'error', ...options });
  t.after(() => server.close());
  return server;
}

/** The first event of a subscription to key "a", after which `publish` was called. */
async function firstEvent(t: TestContext, server: Server, publish: () => Promise<void>): Promise<unknown> {
  const socket = await openSocket(t, server.webSocketUrl!);
  await socket.init();
  socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { counted(key: "a") { n text } }' } });
  await waitFor('the subscription', async () => (await metricOf(server.adminUrl, 'crier_channels')) >= 1);
  await publish();
  const [message] = await socket.take(1);
  return (message!.payload as { data: unknown }).data;
}

function countingGraph(text: string) {
  const resolvers = defineResolvers({ Counted: { text: ({ n }: { n: number }) => `${text} ${n}` } });
  return defineGraph({ schema: SCHEMA, resolvers });
}

describe('createServer', { concurrency: 4 }, () => {
  it('serves graphs of one process side by side, each with its own records and resolvers', async (t) => {
    const [one, two] = await Promise.all([
      start(t, { graph: countingGraph('one') }),
      start(t, { graph: countingGraph('two') }),
    ]);
    assert.notEqual(one.url, two.url);
    const events = await Promise.all([
      firstEvent(t, one, () => one.publish('counts', { value: { key: 'a', n: 1 } })),
      firstEvent(t, two, () => two.publish('counts', { value: { key: 'a', n: 2 } })),
    ]);
    assert.deepEqual(events, [{ counted: { n: 1, text: 'one 1' } }, { counted: { n: 2, text: 'two 2' } }]);
    await one.close();
    assert.equal((await fetch(`${two.adminUrl}/readyz`)).status, 200);
    await assert.rejects(fetch(`${one.adminUrl}/readyz`));
  });

  it('loads a graph folder that imports crier/graph, and answers queries', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `type Query { hello: String }\n${SCHEMA}`,
      'resolvers.ts': `import { defineResolvers } from 'crier/graph';
        export const { Query } = defineResolvers({ Query: { hello: (): string => 'from a folder' } });`,
    });
    const server = await start(t, { graph: folder });
    const response = await fetch(server.url!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ hello }' }),
    });
    assert.deepEqual(await response.json(), { data: { hello: 'from a folder' } });
  });

  it('has a revision of its schema and code, without what its functions close over', () => {
    const revisionOf = (definition: object) => defineGraph({ schema: SCHEMA, ...definition }).revision;
    const text = (resolve: (source: { n: number }) => string) => ({ resolvers: { Counted: { text: resolve } } });
    const closing = (value: string) => text(() => value);
    const revisions = [
      revisionOf({}),
      revisionOf(text(({ n }) => `${n}`)),
      revisionOf(text(({ n }) => `${n}!`)),
      revisionOf({ context: { backends: ['a'] } }),
      revisionOf({ context: { backends: ['a'], authenticate: () => ({ sub: 'a' }) } }),
      revisionOf({ context: { backends: ['a'], authenticate: () => ({ sub: 'b' }) } }),
      revisionOf({ schema: `${SCHEMA}type More { a: Int }` }),
    ];
    assert.equal(new Set(revisions).size, revisions.length, revisions.join());
    assert.equal(revisionOf(text(({ n }) => `${n}`)), revisions[1]);
    assert.equal(revisionOf(closing('a')), revisionOf(closing('b')));
    const samples: { records: () => []; self?: object } = { records: () => [] };
    samples.self = samples;
    assert.match(revisionOf({ samples }), /^[0-9a-f]{12}$/);
  });

  it('refuses a part of a graph that it does not know', () => {
    const misspelt = { schema: SCHEMA, resolver: { Counted: { text: () => 'never' } } };
    assert.throws(
      () => defineGraph(misspelt),
      /^GraphError: resolver: unknown part of a graph; did you mean "resolvers"\?$/,
    );
  });

  it('names the option that is unknown or cannot be used, and leaves nothing running', async () => {
    const cases: readonly [object, RegExp][] = [
      [{ prot: 1 }, /^prot: unknown option; did you mean "port"\?$/],
      [{ port: -1 }, /^port: expected .*, got "-1"$/],
      [{ kafkaBrokers: ['a:1'] }, /^redisUrl: expected redis/],
      [{ graph: '/nowhere' }, /\/nowhere: no such folder/],
      [{ backends: { seller: 'seller:80' } }, /^BACKEND_SELLER_URL: expected an http/],
    ];
    for (const [options, message] of cases) {
      await assert.rejects(createServer({ logLevel: 'fatal', ...options }), { message });
    }
    assert.throws(() => defineGraph({ schema: 'type Query { a: Int }' }), /has no Subscription type/);
    assert.throws(
      () => defineGraph({ schema: SCHEMA, resolvers: { Countd: {} } }),
      /resolvers: exports "Countd".*Counted/,
    );
  });

  it('refuses to take records beside Kafka', async (t) => {
    const server = await start(t, { graph: countingGraph('x'), role: 'gateway', redisUrl: 'redis://127.0.0.1:1' });
    await assert.rejects(server.publish('counts', { value: {} }), /with Kafka, records come from its producers/);
  });
});
