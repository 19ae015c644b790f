import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import type { Logger } from '../src/log.ts';
import { startServer } from '../src/server.ts';
import type { Server } from '../src/server.ts';
import { logLines } from './bus/log-lines.ts';
import { graphFolder } from './graph/support/graph-folder.ts';
import { watch } from './support/stock-client.ts';
import { waitFor } from './support/wait-for.ts';

async function start(
  t: TestContext,
  settings: Readonly<Record<string, string>>,
  log: Logger = createLog('silent'),
): Promise<Server> {
  const config = readConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '20', ...settings });
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return server;
}

const socketOf = (server: Server) => `ws://127.0.0.1:${server.port}/graphql`;

async function metricOf(server: Server, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

/** A graph whose samples say who they are. */
function graphOf(t: TestContext, who: string): Promise<string> {
  return graphFolder(t, {
    'schema.graphql': 'type Tick { who: String! at: Int! } type Subscription { tick: Tick @kafka(topic: "ticks") }',
    'samples.js': `export function* records() { for (let at = 0; ; at++) yield { topic: 'ticks', value: { who: '${who}', at } }; }`,
  });
}

const TICKS = 'subscription { tick { who at } }';

describe('two servers in one process', () => {
  it('have each their own graph, channels, connections and metrics, and end one by one', async (t) => {
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
    const response = await fetch(`http://127.0.0.1:${other.port}/graphql?query={__typename}`);
    assert.deepEqual(await response.json(), { data: { __typename: 'Query' } });
  });
});

describe('a server', () => {
  it('logs what may be a mistake in its graph', async (t) => {
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
        'no samples.ts in the graph: nothing happens until KAFKA_BROKERS is set',
      ],
    );
  });

  it('closes as often as it is asked to, and leaves nothing that keeps the process', async (t) => {
    const held = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCPServer/.test(name));
    const before = held().length;
    const server = await start(t, {});
    await watch(t, socketOf(server), 'subscription { auctions_updated { auction_id } }').event();
    await Promise.all([server.close(), server.close()]);
    await server.close();
    await assert.rejects(fetch(`http://127.0.0.1:${server.adminPort}/healthz`));
    // A closed handle is let go a turn or two later.
    await waitFor('timers and listeners to be gone', () => held().length <= before);
  });
});
