import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import type { Logger } from '../../src/base/log.ts';
import { startServer } from '../../src/server.ts';
import type { Server } from '../../src/server.ts';
import { logLines } from '../bus/log-lines.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { testConfig } from '../support/switches.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';

/** A GET that a browser sends across origins only after a preflight. */
const PREFLIGHTED = { headers: { 'apollo-require-preflight': 'true' } };

async function start(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  log: Logger = createLog('silent'),
): Promise<Server> {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '20', ...settings });
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return server;
}

const socketOf = (server: Server) => `ws://127.0.0.1:${server.port}/graphql`;

async function metricOf(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

/** A graph whose samples name it. */
function graphOf(t: TestContext, who: string): Promise<string> {
  return graphFolder(t, {
    'schema.graphql': 'type Tick { who: String! at: Int! } type Subscription { tick: Tick @kafka(topic: "ticks") }',
    'samples.js': `export function* records() { for (let at = 0; ; at++) yield { topic: 'ticks', value: { who: '${who}', at } }; }`,
  });
}

const TICKS = 'subscription { tick { who at } }';

describe('two servers in one process', () => {
  it('each have their own graph, channels, connections and metrics, and close independently', async (t) => {
    const [one, other] = await Promise.all([
      start(t, { GRAPH: await graphOf(t, 'one') }),
      start(t, { GRAPH: await graphOf(t, 'other'), MAX_QUERY_DEPTH: '1' }),
    ]);
    const watches = [watch(t, socketOf(one), TICKS), watch(t, socketOf(one), TICKS)];
    const ofOther = watch(t, socketOf(other), 'subscription { tick }');
    await assert.rejects(ofOther.event(), /must have a selection/);
    const deep = watch(t, socketOf(other), TICKS);
    await assert.rejects(deep.event(), /more than 1 level/);
    await Promise.all(watches.map((one) => one.event(20)));

    for (const { events } of watches) {
      const ticks = events.map(({ tick }) => tick as { who: string; at: number });
      assert.ok(ticks.every(({ who, at }, i) => who === 'one' && at === ticks[0]!.at + i));
    }
    assert.equal(await metricOf(one, 'crier_operations'), 2);
    assert.equal(await metricOf(other, 'crier_operations'), 0);
    assert.equal(await metricOf(other, 'crier_connections_opened_total'), 2);

    await one.close();
    assert.deepEqual(
      watches.map(({ closeCode }) => closeCode),
      [1001, 1001],
    );
    const third = await start(t, { GRAPH: await graphOf(t, 'third') });
    const { tick } = (await watch(t, socketOf(third), TICKS).event()) as { tick: { who: string } };
    assert.equal(tick.who, 'third');
    const response = await fetch(`http://127.0.0.1:${other.port}/graphql?query={__typename}`, PREFLIGHTED);
    assert.deepEqual(await response.json(), { data: { __typename: 'Query' } });
  });
});

describe('a server', () => {
  it('executes each event for every operation and audits nothing with DISABLE=sharing', async (t) => {
    const server = await start(t, { GRAPH: await graphOf(t, 'one'), DISABLE: 'sharing', SHARING_AUDIT: '1' });
    const watches = [watch(t, socketOf(server), TICKS), watch(t, socketOf(server), TICKS)];
    await Promise.all(watches.map((one) => one.event(20)));
    const executions = await metricOf(server, 'crier_executions_total');
    assert.ok(executions >= 40, `${executions} executions for 40 results`);
    const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
    assert.match(text, /^# TYPE crier_sharing_audit_total/m);
    assert.doesNotMatch(text, /^crier_sharing_audit_total\S* [^0]/m);
  });

  it('counts the records that do not match a field', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `type Tick { id: ID } type Subscription { tick(id: ID!): Tick @kafka(topic: "ticks", match: { arg: "id", path: "id" }) }`,
      'samples.js': `export function* records() { for (;;) yield { topic: 'ticks', value: { tickId: 1 } }; }`,
    });
    const server = await start(t, { GRAPH: folder });
    const name = 'crier_records_unmatched_total{field="tick",reason="match_absent"}';
    await waitFor('records to be counted', async () => (await metricOf(server, name)) > 2);
  });

  it('logs masked errors and failures of backends once per window, and counts them all', async (t) => {
    const backend = createHttpServer((request, response) => {
      response.writeHead(request.url === '/good' ? 200 : 500).end('{}');
    }).listen(0, '127.0.0.1');
    t.after(() => backend.close());
    await once(backend, 'listening');
    const { log, lines } = logLines();
    const folder = await graphFolder(t, {
      'schema.graphql': `type Query { fails: Int asks(path: String!): Boolean } type Subscription { tick: Int @kafka(topic: "ticks") }`,
      'resolvers.js': `export const Query = {
        fails() { throw new TypeError('of the resolver'); },
        asks: async (_, { path }, { backends }) => Boolean(await backends.shop.get(path)),
      };`,
      'context.js': `export const backends = ['shop'];`,
    });
    const { port } = backend.address() as AddressInfo;
    const server = await start(
      t,
      { GRAPH: folder, BACKEND_SHOP_URL: `http://127.0.0.1:${port}`, JIT_AFTER_USES: '1' },
      log,
    );
    const ask = async (query: string) => {
      const url = `http://127.0.0.1:${server.port}/graphql?query=${encodeURIComponent(query)}`;
      return (await (await fetch(url, PREFLIGHTED)).json()) as {
        errors?: { message: string; extensions: Record<string, unknown> }[];
      };
    };

    const ids = new Set<unknown>();
    for (const query of ['{ fails }', '{ fails }', '{ other: fails }']) {
      const [error] = (await ask(query)).errors ?? [];
      assert.equal(error?.message, 'Internal server error');
      ids.add(error.extensions['id']);
    }
    const masked = lines.filter(
      ({ msg }) => msg === 'an error was kept from the client, which received "Internal server error" and this errorId',
    );
    assert.equal(masked.length, 1);
    assert.deepEqual([...ids], [masked[0]!['errorId']], 'every id that a client saw is in the log');
    assert.equal(masked[0]!['field'], 'Query.fails');
    assert.match((masked[0]!['err'] as { stack: string }).stack, /of the resolver\n {4}at .*resolvers\.js:2/);
    assert.equal(await metricOf(server, 'crier_internal_errors_total'), 3);

    await ask('{ asks(path: "/good") }');
    for (let i = 0; i < 3; i++) await ask('{ asks(path: "/bad") }');
    const requests = (outcome: string) =>
      metricOf(server, `crier_backend_requests_total{backend="shop",outcome="${outcome}"}`);
    assert.deepEqual([await requests('OK'), await requests('BACKEND_ERROR')], [1, 3]);
    const failures = lines.filter(({ msg }) => msg === 'a backend request failed');
    assert.equal(failures.length, 1);
    const { level, backend: name, outcome, status, reason, suppressed } = failures[0]!;
    assert.deepEqual(
      [level, name, outcome, status, reason, suppressed],
      [40, 'shop', 'BACKEND_ERROR', 500, 'status 500', 0],
    );
    assert.equal(await metricOf(server, 'crier_compilations_total{outcome="compiled"}'), 4, 'each with its first use');
  });

  it('lets executions wait beyond MAX_EXECUTIONS while a backend stalls, and delivers every event afterwards', async (t) => {
    let isStalled = true;
    const held: ServerResponse[] = [];
    const backend = createHttpServer((_request, response) => {
      if (isStalled) held.push(response);
      else response.end('7');
    }).listen(0, '127.0.0.1');
    await once(backend, 'listening');
    t.after(() => {
      backend.closeAllConnections();
      backend.close();
    });
    const folder = await graphFolder(t, {
      'schema.graphql':
        'type Tick { at: Int! price: Int } type Subscription { tick: Tick @kafka(topic: "ticks", shared: false) }',
      'samples.js': `export function* records() { for (let at = 0; ; at++) yield { topic: 'ticks', value: { at } }; }`,
      'context.js': 'export const backends = ["shop"];',
      'resolvers.js': 'export const Tick = { price: (tick, args, { backends }) => backends.shop.get("/price") };',
    });
    const { port } = backend.address() as AddressInfo;
    const server = await start(t, {
      GRAPH: folder,
      BACKEND_SHOP_URL: `http://127.0.0.1:${port}`,
      MAX_EXECUTIONS: '1',
    });
    const watches = Array.from({ length: 3 }, () => watch(t, socketOf(server), 'subscription { tick { at price } }'));
    await waitFor('waiting executions', async () => (await metricOf(server, 'crier_executions_waiting')) > 0);
    await waitFor('a request at the backend', () => held.length > 0);
    assert.equal(held.length, 1, 'one execution is in flight');
    isStalled = false;
    held[0]!.end('7');
    await Promise.all(watches.map((one) => one.event(20)));
    for (const { events } of watches) {
      const ticks = events.map(({ tick }) => tick as { at: number; price: number });
      const first = ticks[0]!.at;
      assert.deepEqual(
        ticks,
        ticks.map((_, i) => ({ at: first + i, price: 7 })),
      );
    }
  });

  it('logs possible mistakes in its graph', async (t) => {
    const { log, lines } = logLines();
    const folder = await graphFolder(t, {
      'schema.graphql': 'type Subscription { tick(page: Int): Int @kafka(topic: "ticks") }',
      'resolver.ts': '',
    });
    await start(t, { GRAPH: folder }, log);
    const warnings = lines.filter(({ level, graph }) => level === 40 && graph !== undefined);
    assert.deepEqual(
      warnings.map(({ msg }) => String(msg).split(';', 1)[0]),
      [
        'resolver.ts is not loaded',
        'schema.graphql:1: Subscription.tick: the argument "page" chooses no events: a subscriber receives those of every "page"',
        'no event will come: without KAFKA_BROKERS and REDIS_URL the records come from samples.ts, and the graph has none. Set both, or add the file: export function* records() { for (',
      ],
    );
  });

  it('does not miss samples of a graph that needs no Kafka', async (t) => {
    const { log, lines } = logLines();
    const folder = await graphFolder(t, {
      'schema.graphql': 'type Subscription { typing: Int @redis(channel: "typing") }',
    });
    await start(t, { GRAPH: folder }, log);
    assert.deepEqual(
      lines.filter(({ msg }) => String(msg).startsWith('no event will come')),
      [],
    );
  });

  it('excepts the events of mutations when it misses samples', async (t) => {
    const { log, lines } = logLines();
    const folder = await graphFolder(t, {
      'schema.graphql': `type Subscription { bid: Int @kafka(topic: "bids", payload: "bid") }
        type Mutation { place_bid(input: Bid!): Accepted! @kafkaPublish(topic: "bids") }
        type Accepted { offset: String! }
        input Bid { bid: Int }`,
    });
    await start(t, { GRAPH: folder }, log);
    const messages = lines.map(({ msg }) => String(msg)).filter((msg) => msg.startsWith('no event will come'));
    assert.equal(messages.length, 1);
    assert.match(messages[0]!, /^no event will come but from mutations: without KAFKA_BROKERS/);
  });

  it('closes any number of times, and leaves nothing that keeps the process alive', async (t) => {
    const held = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCPServer/.test(name));
    const before = held().length;
    const server = await start(t, {});
    await watch(t, socketOf(server), 'subscription { auctions_updated { auction_id } }').event();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    await assert.rejects(fetch(`http://127.0.0.1:${server.adminPort}/healthz`));
    // Node releases a closed handle a turn or two later.
    await waitFor('timers and listeners to be gone', () => held().length <= before);
  });
});
