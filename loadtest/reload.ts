import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { channelName } from '../src/bus/channel.ts';
import { RedisBus } from '../src/bus/redis/redis-bus.ts';
import { createLog } from '../src/base/log.ts';
import { freePorts } from '../stack/port.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { publishFaults } from './fault-report.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { callProcess } from './processes/process-call.ts';
import { startServerProcess, stopProcess } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { ITEM_TOPIC, ItemGraph, documentsOf, payloadOf } from './reload/item-graph.ts';
import type { WatchPlan, WatchReport } from './reload/watching-clients.ts';

const USAGE = `Reloads the graph of a gateway while its clients receive events.

Usage: npm run bench:reload -- [flags]

  --sockets <number>    clients with one subscription each; default: 4000
  --documents <number>  different documents of these; default: 20
  --rate <number>       events a second, each for all clients; default: 5
  --reloads <number>    reloads in sequence; default: 10
  --out <name>          loadtest/results/<name>.json and .md; default: reload
  --help

Exits with 1 if a reload closed a client, ended an operation, lost or doubled an event, or blocked the event loop: p99 of its lag
over all reloads at most 100 ms.
`;

const PREFIX = 'bench:';
const MAX_LAG_MS = 100;
/** Time for clients to receive the last event, in ms. */
const PATIENCE_MS = 15_000;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    documents: { type: 'string', default: '20' },
    rate: { type: 'string', default: '5' },
    reloads: { type: 'string', default: '10' },
    out: { type: 'string', default: 'reload' },
    help: { type: 'boolean', short: 'h' },
  },
});

/** Publishes numbered events like a worker, at a steady rate. */
class Flow {
  readonly #bus: RedisBus;
  readonly #channel = channelName(PREFIX, ITEM_TOPIC, [{ path: 'id', value: '1' }]);
  #next = 0;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(redisUrl: string) {
    this.#bus = new RedisBus({ url: redisUrl, prefix: PREFIX, log: createLog('error') });
  }

  async open(): Promise<void> {
    await this.#bus.start();
    await this.#bus.acquire({ topic: ITEM_TOPIC, partition: 0, position: -1 });
  }

  get last(): number {
    return this.#next - 1;
  }

  async publish(): Promise<void> {
    const offset = this.#next++;
    const message = {
      channel: this.#channel,
      payload: payloadOf(offset),
      offset,
      timestamp: Date.now(),
      history: undefined,
    };
    await this.#bus.publish([message], { topic: ITEM_TOPIC, partition: 0, offset });
  }

  start(rate: number): void {
    this.#running = (async () => {
      while (!this.#isStopped) {
        await this.publish();
        await delay(1000 / rate);
      }
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

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const [sockets, documents, rate, reloads] = (['sockets', 'documents', 'rate', 'reloads'] as const).map((flag) =>
    numberFlag(flag, values[flag]),
  ) as [number, number, number, number];
  pinThisProcess(CLIENT_CORE);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const redis = await startRedisServer();
    closing.push(() => redis.stop());
    const graph = await ItemGraph.create();
    closing.push(() => graph.remove());
    await graph.write('v0');
    const flow = new Flow(redis.url);
    await flow.open();
    closing.push(() => flow.close());
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const environment = {
      ROLE: 'gateway',
      GRAPH: graph.folder,
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: PREFIX,
      ADMIN_PORT: String(adminPort),
    };
    const server = await startServerProcess('dist/src/main.js', port, environment, startArguments());
    closing.push(() => server.stop());
    const script = new URL('reload/watching-clients.js', import.meta.url).pathname;
    const clients = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    closing.push(() => stopProcess(clients));
    say(`${sockets} clients connect`);
    const plan: WatchPlan = { port, sockets, documents: documentsOf(documents) };
    await callProcess(clients, 'connect', plan);
    const report = (version: string) => callProcess<WatchReport>(clients, 'report', { number: flow.last, version });
    await until(async () => (await metricOf(adminPort, 'crier_operations')) === sockets, 'all subscriptions');
    await flow.publish();
    await until(async () => (await report('v0')).upToDate === sockets, 'the first event');
    const keptBefore = await server.keptBytes();
    flow.start(rate);
    await delay(2000);
    await server.reset();
    await delay(5000);
    const quiet = await server.report();
    const durations: number[] = [];
    await server.reset();
    for (let i = 1; i <= reloads; i++) {
      await graph.write(`v${i}`);
      const startedAt = performance.now();
      const response = await fetch(`http://127.0.0.1:${adminPort}/admin/reload`, { method: 'POST' });
      const body = (await response.json()) as { pods: { outcome: string }[] };
      if (body.pods[0]?.outcome !== 'swapped') throw new Error(JSON.stringify(body));
      durations.push(performance.now() - startedAt);
    }
    const during = await server.report();
    await delay(1000);
    await flow.stop();
    const version = `v${reloads}`;
    await until(async () => (await report(version)).upToDate === sockets, 'the last event').catch(() => undefined);
    const received = await report(version);
    const keptAfter = await server.keptBytes();
    await publish({
      ...received,
      sockets,
      events: flow.last + 1,
      reloads,
      medianMs: durations.toSorted((a, b) => a - b)[Math.floor(reloads / 2)]!,
      slowestMs: Math.max(...durations),
      quietLagP99Ms: quiet.lagP99Ms,
      lagP99Ms: during.lagP99Ms,
      kiloBytesPerReload: (keptAfter - keptBefore) / 1024 / reloads,
    });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function metricOf(adminPort: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? 0);
}

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(100);
  }
}

interface Figures extends WatchReport {
  readonly sockets: number;
  readonly events: number;
  readonly reloads: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly quietLagP99Ms: number;
  readonly lagP99Ms: number;
  readonly kiloBytesPerReload: number;
}

function faultsOf({ sockets, closed, ended, lost, doubled, upToDate, ofVersion, lagP99Ms }: Figures): string[] {
  return [
    closed > 0 && `${closed} clients were closed`,
    ended > 0 && `${ended} operations ended`,
    lost > 0 && `${lost} events were lost`,
    doubled > 0 && `${doubled} events were doubled`,
    upToDate < sockets && `${sockets - upToDate} clients did not receive the last event`,
    ofVersion < sockets && `${sockets - ofVersion} clients have a result of a former graph`,
    lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(1)} ms, more than ${MAX_LAG_MS}`,
  ].filter((fault) => fault !== false);
}

async function publish(figures: Figures): Promise<void> {
  const faults = faultsOf(figures);
  const table = [
    ['figure', 'value'],
    ['clients', String(figures.sockets)],
    ['events, each for all clients', String(figures.events)],
    ['reloads', String(figures.reloads)],
    ['clients closed / operations ended', `${figures.closed} / ${figures.ended}`],
    ['events lost / doubled', `${figures.lost} / ${figures.doubled}`],
    ['median / slowest reload, ms', `${figures.medianMs.toFixed(0)} / ${figures.slowestMs.toFixed(0)}`],
    ['event loop lag p99 before / during, ms', `${figures.quietLagP99Ms.toFixed(1)} / ${figures.lagP99Ms.toFixed(1)}`],
    ['memory kept for each reload, KB', figures.kiloBytesPerReload.toFixed(0)],
  ];
  const { out: name } = values;
  const success = 'No reload was noticed by a client.';
  await publishFaults({ command: 'reload', name, flags: values, table, success, faults, data: { figures } });
}

runCommand('reload', main);
