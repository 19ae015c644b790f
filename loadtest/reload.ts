import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../src/base/log.ts';
import { channelName } from '../src/bus/channel.ts';
import { RedisBus } from '../src/bus/redis/redis-bus.ts';
import { graphFolder } from './fanout/graph-variant.ts';
import { startRemote } from './processes/process-call.ts';
import { startServer } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import type { WatchingClients } from './reload/watching-clients.ts';
import { whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { median } from './runner/spread.ts';

const PREFIX = 'bench:';
const MAX_LAG_MS = 100;
/** Time for clients to receive the last event, in ms. */
const PATIENCE_MS = 15_000;
const TOPIC = 'items';
const SCHEMA = `
  type Item { id: ID! n: Int! version: String parts: [Part!]! }
  type Part { id: ID! name: String price: Float }
  type Subscription { item(id: ID!): Item @kafka(topic: "${TOPIC}", match: [{ arg: "id", path: "id" }]) }
`;

export const scenario = defineScenario({
  name: 'reload',
  question: 'Reloads the graph of a gateway while its clients receive events.',
  flags: {
    sockets: whole('clients with one subscription each', 4000),
    documents: whole('different documents of these', 20),
    rate: whole('events a second, each for all clients', 5),
    reloads: whole('reloads in sequence', 10),
  },
  packages: ['ws', 'graphql'],
  notes: `Exits with 1 if a reload closed a client, ended an operation, lost or doubled an event, or blocked the event loop: p99 of its lag
over all reloads at most ${MAX_LAG_MS} ms.`,
  run: async ({ flags: { sockets, documents, rate, reloads }, scope, say, pause }) => {
    const redis = await scope.redis();
    const folder = await graphFolder({ 'schema.graphql': SCHEMA }, scope);
    /** Results name the version of the graph. */
    const write = (version: string) =>
      writeFile(join(folder, 'resolvers.js'), `export const Item = { version: () => '${version}' };\n`);
    await write('v0');
    const flow = new Flow(redis.url);
    await flow.open();
    scope.after(() => flow.close());
    const environment = { ROLE: 'gateway', GRAPH: folder, REDIS_URL: redis.url, CHANNEL_PREFIX: PREFIX };
    const server = await startServer({ environment, nodeArguments: startArguments() }, scope);
    const clients = startRemote<WatchingClients>('reload/watching-clients.js', scope);
    say(`${sockets} clients connect`);
    // Of one channel. Each is validated again at a reload.
    const queries = Array.from({ length: documents }, (_, i) => {
      return `subscription Watch${i} { item(id: "1") { n version parts { id name price } } }`;
    });
    await clients.connect({ port: server.port, sockets, documents: queries });
    const report = (version: string) => clients.report({ number: flow.last, version });
    const until = async (condition: () => Promise<boolean>) => {
      for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await pause(100))
        if (await condition()) return true;
      return false;
    };
    if (!(await until(async () => (await server.metric('crier_operations')) === sockets)))
      throw new Error('not all clients have subscribed');
    await flow.publish();
    if (!(await until(async () => (await report('v0')).upToDate === sockets)))
      throw new Error('not all clients have received the first event');
    const keptBefore = await server.keptBytes();
    flow.start(rate);
    await pause(2000);
    await server.reset();
    await pause(5000);
    const quiet = await server.report();
    const durations: number[] = [];
    await server.reset();
    for (let i = 1; i <= reloads; i++) {
      await write(`v${i}`);
      const startedAt = performance.now();
      const response = await fetch(`http://127.0.0.1:${server.adminPort}/admin/reload`, { method: 'POST' });
      const body = (await response.json()) as { pods: { outcome: string }[] };
      if (body.pods[0]?.outcome !== 'swapped') throw new Error(JSON.stringify(body));
      durations.push(performance.now() - startedAt);
    }
    const during = await server.report();
    await pause(1000);
    await flow.stop();
    const version = `v${reloads}`;
    await until(async () => (await report(version)).upToDate === sockets);
    const received = await report(version);
    const { closed, ended, lost, doubled, upToDate, ofVersion } = received;
    const [quietLagP99Ms, lagP99Ms] = [quiet.lagP99Ms, during.lagP99Ms];
    const [events, medianMs, slowestMs] = [flow.last + 1, median(durations), Math.max(...durations)];
    const kiloBytesPerReload = ((await server.keptBytes()) - keptBefore) / 1024 / reloads;
    const measured = { events, quietLagP99Ms, lagP99Ms, medianMs, slowestMs, kiloBytesPerReload };
    const figures = { ...received, sockets, reloads, ...measured };
    const table = [
      ['figure', 'value'],
      ['clients', String(sockets)],
      ['events, each for all clients', String(events)],
      ['reloads', String(reloads)],
      ['clients closed / operations ended', `${closed} / ${ended}`],
      ['events lost / doubled', `${lost} / ${doubled}`],
      ['median / slowest reload, ms', `${medianMs.toFixed(0)} / ${slowestMs.toFixed(0)}`],
      ['event loop lag p99 before / during, ms', `${quietLagP99Ms.toFixed(1)} / ${lagP99Ms.toFixed(1)}`],
      ['memory kept for each reload, KB', kiloBytesPerReload.toFixed(0)],
    ];
    const faults = [
      closed > 0 && `${closed} clients were closed`,
      ended > 0 && `${ended} operations ended`,
      lost > 0 && `${lost} events were lost`,
      doubled > 0 && `${doubled} events were doubled`,
      upToDate < sockets && `${sockets - upToDate} clients did not receive the last event`,
      ofVersion < sockets && `${sockets - ofVersion} clients have a result of a former graph`,
      lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(1)} ms, more than ${MAX_LAG_MS}`,
    ];
    return {
      sections: [{ table }],
      success: 'No reload was noticed by a client.',
      faults: faults.filter((fault) => fault !== false),
      data: { figures },
    };
  },
});

/** Publishes numbered events like a worker, at a steady rate. */
class Flow {
  readonly #bus: RedisBus;
  readonly #channel = channelName(PREFIX, TOPIC, [{ path: 'id', value: '1' }]);
  #next = 0;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(redisUrl: string) {
    this.#bus = new RedisBus({ url: redisUrl, prefix: PREFIX, log: createLog('error') });
  }

  async open(): Promise<void> {
    await this.#bus.start();
    await this.#bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
  }

  get last(): number {
    return this.#next - 1;
  }

  async publish(): Promise<void> {
    const offset = this.#next++;
    const parts = Array.from({ length: 8 }, (_, id) => ({ id: `${id}`, name: `part ${id}`, price: id / 4 }));
    const payload = JSON.stringify({ id: '1', n: offset, parts });
    const message = { channel: this.#channel, payload, offset, timestamp: Date.now(), history: undefined };
    await this.#bus.publish([message], { topic: TOPIC, partition: 0, offset });
  }

  start(rate: number): void {
    this.#running = (async () => {
      for (; !this.#isStopped; await delay(1000 / rate)) await this.publish();
    })();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#bus.close();
  }
}
