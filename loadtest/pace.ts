import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../src/base/log.ts';
import { printParts } from '../src/bus/carried-parts.ts';
import { channelName } from '../src/bus/channel.ts';
import { RedisBus } from '../src/bus/redis/redis-bus.ts';
import { graphFolder } from './fanout/graph-variant.ts';
import type { ReadingClients } from './pace/reading-clients.ts';
import { startRemote } from './processes/process-call.ts';
import { startServer } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { choice, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';

const PREFIX = 'bench:';
const TOPIC = 'prices';
const PACE_MS = 250;
const EVENT_BYTES = 4096;
/** Bounds of the ages in ms, and of the p99 of the others with the slow clients, as a multiple of that without them. */
const MAX_AGE_MS = 2000;
const MAX_RATIO = 1.1;
/** Below this p99 a ratio says more of the machine than of crier. */
const MIN_P99_MS = 20;
/** Time in ms that is not measured, after clients have connected. */
const SETTLE_MS = 5000;
const PATIENCE_MS = 30_000;
const SCHEMA = `
  type Price { at: Float! text: String! }
  type Subscription {
    paced: Price @kafka(topic: "${TOPIC}", pace: { ms: ${PACE_MS} }, slow: LATEST)
    latest: Price @kafka(topic: "${TOPIC}", slow: LATEST)
  }
`;

export const scenario = defineScenario({
  name: 'pace',
  command: 'loadtest -- --scenario pace',
  question: 'Do clients that cannot keep up stay, with new values, and do the others notice them?',
  flags: {
    scenario: choice('this one', ['pace'] as const, 'pace'),
    sockets: whole('clients with one subscription each', 4000),
    slow: whole('of these, which read slowly', 400),
    kilobytes: whole('KB a second that each slow client reads', 100),
    rate: whole('events of 4 KB a second', 300),
    keys: whole('of the records, in turn', 2),
    seconds: whole('with the slow clients; before, a quarter of it without them', 600),
  },
  out: 'scenario-pace',
  packages: ['ws', 'graphql'],
  notes: `The others receive an event for each key and ${PACE_MS} ms, the slow clients all events that they can read.

Exits with 1 if a client was closed, an event was older than ${MAX_AGE_MS} ms when it was read, or the p99 of the others exceeds ${MAX_RATIO} times
(and ${MIN_P99_MS} ms) that without the slow clients.`,
  run: async ({ flags: { sockets, slow, kilobytes, rate, keys, seconds }, scope, say, pause }) => {
    const redis = await scope.redis();
    const folder = await graphFolder({ 'schema.graphql': SCHEMA }, scope);
    const environment = { ROLE: 'gateway', GRAPH: folder, REDIS_URL: redis.url, CHANNEL_PREFIX: PREFIX };
    const server = await startServer({ environment, nodeArguments: startArguments() }, scope);
    const flow = new Flow(redis.url, keys);
    await flow.open();
    scope.after(() => flow.close());
    // A process for each kind: what one of them reads late says nothing of the other.
    const start = () => startRemote<ReadingClients>('pace/reading-clients.js', scope);
    const clients = { healthy: start(), slow: start() };
    const connect = async (name: keyof typeof clients, count: number, kiloBytes: number, total: number) => {
      say(`${count} ${name} clients connect`);
      const query = `subscription { ${name === 'slow' ? 'latest' : 'paced'} { at text } }`;
      await clients[name].connect({ port: server.port, sockets: count, query, kiloBytes });
      const deadline = performance.now() + PATIENCE_MS;
      while ((await server.metric('crier_operations')) < total) {
        if (performance.now() > deadline) throw new Error('not all clients have subscribed');
        await pause(100);
      }
      await pause(SETTLE_MS);
    };
    const measure = async (ms: number) => {
      await Promise.all([clients.healthy.reset(), clients.slow.reset(), server.reset()]);
      await pause(ms);
      const { lagP99Ms } = await server.report();
      return { healthy: await clients.healthy.report(), slow: await clients.slow.report(), lagP99Ms };
    };
    flow.start(rate);
    await connect('healthy', sockets - slow, 0, sockets - slow);
    const before = await measure(seconds * 250);
    await connect('slow', slow, kilobytes, sockets);
    const during = await measure(seconds * 1000);
    const held = await server.metric('crier_held_bytes');
    await flow.close();
    const ratio = during.healthy.ages.p99Ms / before.healthy.ages.p99Ms;
    const figures = { sockets, slow, ratio, before, during, held };
    const ages = ({ p50Ms, p99Ms, maxMs }: typeof before.healthy.ages) =>
      `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)} / ${maxMs.toFixed(0)}`;
    const table = [
      ['figure', 'without slow clients', 'with them'],
      ['clients, of these slow', `${sockets - slow}, 0`, `${sockets}, ${slow}`],
      ['age of the events of the others, p50 / p99 / max, ms', ages(before.healthy.ages), ages(during.healthy.ages)],
      ['age of the events of the slow clients', '', ages(during.slow.ages)],
      ['events a second and slow client', '', (during.slow.events / seconds / slow).toFixed(1)],
      ['events that one of these replaced', '', (during.slow.skipped / during.slow.events).toFixed(1)],
      ['event loop lag p99, ms', before.lagP99Ms.toFixed(1), during.lagP99Ms.toFixed(1)],
      ['bytes held', '', String(held)],
      ['clients closed / operations ended', '', `${closesOf(during)} / ${during.healthy.ended + during.slow.ended}`],
    ];
    const oldestMs = Math.max(during.healthy.ages.maxMs, during.slow.ages.maxMs);
    const faults = [
      closesOf(during) > 0 && `${closesOf(during)} clients were closed`,
      during.healthy.ended + during.slow.ended > 0 && 'operations ended',
      oldestMs > MAX_AGE_MS && `an event was ${oldestMs.toFixed(0)} ms old, more than ${MAX_AGE_MS}`,
      ratio > MAX_RATIO &&
        during.healthy.ages.p99Ms > MIN_P99_MS &&
        `the p99 of the others was ${ratio.toFixed(2)} times that without the slow clients, more than ${MAX_RATIO}`,
    ];
    return {
      sections: [{ table }],
      success: 'No client was closed, no event was old, and the others noticed nothing.',
      faults: faults.filter((fault) => fault !== false),
      data: { figures },
    };
  },
});

function closesOf({ healthy, slow }: Readonly<Record<'healthy' | 'slow', { readonly closed: number }>>): number {
  return healthy.closed + slow.closed;
}

/** Publishes events like a worker, at a steady rate: an open loop. */
class Flow {
  readonly #bus: RedisBus;
  readonly #channel = channelName(PREFIX, TOPIC, []);
  readonly #keys: number;
  readonly #text = 'x'.repeat(EVENT_BYTES);
  #next = 0;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #isClosed = false;

  constructor(redisUrl: string, keys: number) {
    this.#bus = new RedisBus({ url: redisUrl, prefix: PREFIX, log: createLog('error') });
    this.#keys = keys;
  }

  async open(): Promise<void> {
    await this.#bus.start();
    await this.#bus.acquire({ topic: TOPIC, partition: 0, position: -1 });
  }

  start(rate: number): void {
    const startedAt = performance.now();
    this.#running = (async () => {
      while (!this.#isStopped) {
        while (this.#next < ((performance.now() - startedAt) / 1000) * rate) await this.#publish();
        await delay(1);
      }
    })();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isStopped = true;
    await this.#running;
    await this.#bus.close();
  }

  async #publish(): Promise<void> {
    const offset = this.#next++;
    const payload = JSON.stringify({ at: performance.timeOrigin + performance.now(), text: this.#text });
    const record = printParts({ headers: {}, id: `${offset % this.#keys}` });
    const message = { channel: this.#channel, payload, offset, timestamp: Date.now(), history: undefined, record };
    await this.#bus.publish([message], { topic: TOPIC, partition: 0, offset });
  }
}
