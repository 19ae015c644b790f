import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import kafkajs from 'kafkajs';
import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { LONG_LIVED } from '../stack/kafka-node.ts';
import { freePorts } from '../stack/port.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { createTopics } from '../stack/topics.ts';
import { runCommand, say } from './command.ts';
import { AUCTION_TOPIC, auctionDocument, auctionRecords } from './fanout/auction.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { callProcess } from './processes/process-call.ts';
import { residentBytes } from './processes/process-usage.ts';
import { startServerProcess, stopProcess } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import type { ChurnPlan, ChurnReport } from './soak/churning-clients.ts';
import { faultsOf, inMb, publish } from './soak/soak-report.ts';
import type { KeptMemory, Sample, SoakPlan } from './soak/soak-report.ts';

const USAGE = `Runs a pod with clients that come and go, more than it admits. Without clients its gauges must return to 0, and its memory to
its value after the first quarter.

Usage: npm run bench:soak -- [flags]

  --minutes <number>      duration; default: 30. All clients leave after each quarter; the first one is the warm-up
  --connections <number>  MAX_CONNECTIONS of the pod; default: 4000
  --percent <number>      clients, in percent of it; default: 110
  --memory <number>       MiB of the pod: its old space gets half, as in the image, and its RSS is compared with it; no container
                          enforces it; default: 512
  --rate <number>         records a second; default: 50
  --auctions <number>     auctions, of which each client watches one; default: 100
  --life <number>         longest life of a connection, in seconds; default: 120
  --out <name>            loadtest/results/<name>.json and .md; default: soak
  --help

Exits with 1 if the pod ends or exceeds its memory, refuses nobody, a gauge is not 0 without clients, or
memory does not return to its value after the first quarter.
`;

/** Rounds, after each of which all clients leave. In the first the pod compiles its code and reaches its most connections. */
const ROUNDS = 4;
const SAMPLE_MS = 5000;
const PROGRESS_MS = 60_000;
const SETTLE_PATIENCE_MS = 60_000;
const MIB = 1024 * 1024;

/** Gauges that are 0 without clients. */
const GAUGES = [
  'crier_connections',
  'crier_operations',
  'crier_channels',
  'crier_queue_bytes',
  'crier_held_bytes',
  'crier_executions_in_flight',
  'crier_documents_waiting',
  'crier_flow_waiting_bytes',
] as const;

const flag = (name: string) => ({ type: 'string', default: name }) as const;
const { values } = parseArgs({
  options: {
    minutes: flag('30'),
    connections: flag('4000'),
    percent: flag('110'),
    memory: flag('512'),
    rate: flag('50'),
    auctions: flag('100'),
    life: flag('120'),
    out: flag('soak'),
    help: { type: 'boolean', short: 'h' },
  },
});

type Metrics = (name: string) => number;

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const plan = planOf();
  pinThisProcess(CLIENT_CORE);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const { pod, port, adminPort } = await startPod(plan, closing);
    const beforeClients = await keptMemoryOf(pod);
    const clients = fork(new URL('soak/churning-clients.js', import.meta.url).pathname);
    closing.push(() => stopProcess(clients));
    const { auctions, life } = plan;
    const count = Math.round((plan.connections * plan.percent) / 100);
    const churn: ChurnPlan = { port, clients: count, query: auctionDocument(), auctions, maxLifeMs: life * 1000 };

    say(`${count} clients, ${plan.connections} admitted, ${plan.minutes} min`);
    const samples: Sample[] = [];
    const kept: KeptMemory[] = [];
    const unsettled: string[] = [];
    const startedAt = performance.now();
    let report!: ChurnReport;
    for (let round = 1; round <= ROUNDS; round++) {
      await callProcess(clients, 'start', churn);
      const until = startedAt + (round / ROUNDS) * plan.minutes * 60_000;
      samples.push(...(await watchPod(pod, adminPort, clients, { startedAt, until }, signal)));
      report = await callProcess<ChurnReport>(clients, 'stop');
      unsettled.push(...(await settle(adminPort)));
      kept.push(await keptMemoryOf(pod));
      say(`without clients: RSS ${inMb(kept, 'residentBytes')} MB, heap ${inMb(kept, 'heapBytes')} MB`);
    }
    const refused = (await metricsOf(adminPort))('crier_refusals_total{reason="connections"}');
    const outcome = { samples, report, beforeClients, kept, refused };
    await publish(plan, values.out, outcome, [...faultsOf(plan, outcome), ...unsettled]);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function planOf(): SoakPlan {
  const names = ['minutes', 'connections', 'percent', 'memory', 'rate', 'auctions', 'life'] as const;
  return Object.fromEntries(names.map((name) => [name, numberFlag(name, values[name])])) as unknown as SoakPlan;
}

/** Starts Kafka, Redis, a producer and a pod with its old space. */
async function startPod(plan: SoakPlan, closing: (() => Promise<unknown>)[]) {
  const redis = await startRedisServer();
  closing.push(() => redis.stop());
  const kafka = await startKafkaBroker({ javaFlags: LONG_LIVED });
  closing.push(() => kafka.stop());
  await createTopics(kafka.address, [{ topic: AUCTION_TOPIC, numPartitions: 4 }]);
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const environment = {
    GRAPH: 'loadtest/graphs/fanout',
    KAFKA_BROKERS: kafka.address,
    REDIS_URL: redis.url,
    ADMIN_PORT: String(adminPort),
    MAX_CONNECTIONS: String(plan.connections),
    DRAIN_DELAY_MS: '0',
    DRAIN_SPREAD_MS: '0',
  };
  const nodeArguments = ['--max-semi-space-size=16', `--max-old-space-size=${plan.memory / 2}`];
  const pod = await startServerProcess('dist/src/main.js', port, environment, nodeArguments);
  closing.push(() => pod.stop());
  const producing = await produce(kafka.address, plan.auctions, plan.rate);
  closing.push(() => producing.stop());
  return { pod, port, adminPort };
}

/** Samples the pod until a time of performance.now(). @throws Error when the pod ends. */
async function watchPod(
  pod: ServerProcess,
  adminPort: number,
  clients: ChildProcess,
  { startedAt, until }: { readonly startedAt: number; readonly until: number },
  signal: AbortSignal,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  let ending: number | string | undefined;
  void pod.ended.then((code) => (ending = code));
  let reportedAt = performance.now();
  while (performance.now() < until) {
    await delay(SAMPLE_MS, undefined, { signal });
    if (ending !== undefined) throw new Error(`the pod ended with ${ending}`);
    const sample = await sampleOf(pod, adminPort, clients, (performance.now() - startedAt) / 60_000);
    samples.push(sample);
    if (performance.now() - reportedAt < PROGRESS_MS) continue;
    reportedAt = performance.now();
    const { minutes, connections, residentMb, deliveries, shed } = sample;
    say(
      `${minutes.toFixed(0)} min: ${connections} connections, RSS ${residentMb.toFixed(0)} MB, ${deliveries} messages, ${shed} shed`,
    );
  }
  return samples;
}

/** What a pod without clients keeps. */
async function keptMemoryOf(pod: ServerProcess): Promise<KeptMemory> {
  return { residentBytes: await pod.keptBytes(), heapBytes: (await pod.report()).heapBytes };
}

/** Writes records for random auctions, at a constant rate. */
async function produce(brokers: string, auctions: number, rate: number) {
  const producer = new kafkajs.Kafka({
    clientId: 'soak',
    brokers: [brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  }).producer();
  await producer.connect();
  const records = Array.from({ length: auctions }, (_, i) => auctionRecords(i + 1));
  let event = 0;
  const tick = () => {
    const messages = Array.from({ length: Math.max(1, Math.round(rate / 10)) }, () => {
      const auction = Math.floor(Math.random() * auctions);
      return { key: String(auction), value: records[auction]!(event++ % 1_000_000) };
    });
    // A record that is not written is not delivered, and nothing else here depends on it.
    producer.send({ topic: AUCTION_TOPIC, messages }).catch(() => undefined);
  };
  const timer = setInterval(tick, 100);
  return {
    stop: () => {
      clearInterval(timer);
      return producer.disconnect();
    },
  };
}

async function sampleOf(
  pod: ServerProcess,
  adminPort: number,
  clients: ChildProcess,
  minutes: number,
): Promise<Sample> {
  const [metric, { messages, shed }] = await Promise.all([
    metricsOf(adminPort),
    callProcess<ChurnReport>(clients, 'report'),
  ]);
  return {
    minutes,
    residentMb: residentBytes(pod.pid) / MIB,
    connections: metric('crier_connections'),
    deliveries: messages,
    shed,
  };
}

/** Waits until every gauge is 0. Returns a fault for each that is not. */
async function settle(adminPort: number): Promise<string[]> {
  const deadline = performance.now() + SETTLE_PATIENCE_MS;
  for (;;) {
    const metric = await metricsOf(adminPort);
    const wrong = GAUGES.filter((name) => metric(name) !== 0);
    if (wrong.length === 0 || performance.now() > deadline)
      return wrong.map((name) => `${name} is ${metric(name)} without clients`);
    await delay(500);
  }
}

async function metricsOf(adminPort: number): Promise<Metrics> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/metrics`).catch(() => undefined);
  const lines = ((await response?.text()) ?? '').split('\n');
  return (name) => Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? NaN);
}

runCommand('soak', main);
