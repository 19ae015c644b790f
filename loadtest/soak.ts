import kafkajs from 'kafkajs';
import { createTopics } from '../stack/topics.ts';
import { AUCTION_TOPIC, auctionDocument, auctionRecords } from './fanout/auction.ts';
import { sumOfCounter } from './processes/metrics.ts';
import { startRemote } from './processes/process-call.ts';
import type { Remote } from './processes/process-call.ts';
import { residentBytes } from './processes/process-usage.ts';
import { startServer } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import type { Run } from './runner/scenario.ts';
import type { Scope } from './runner/scope.ts';
import type { ChurnReport, ChurningClients } from './soak/churning-clients.ts';
import { inMb, soakReport } from './soak/soak-report.ts';
import type { KeptMemory, Sample, SoakPlan } from './soak/soak-report.ts';

/** Rounds, after each of which all clients leave. In the first the pod compiles its code and reaches its most connections. */
const ROUNDS = 4;
const SAMPLE_MS = 5000;
const PROGRESS_MS = 60_000;
const SETTLE_PATIENCE_MS = 60_000;
const MIB = 1024 * 1024;

/** Gauges that are 0 without clients. */
const GAUGES = [
  ...['crier_connections', 'crier_operations', 'crier_channels', 'crier_queue_bytes', 'crier_held_bytes'],
  ...['crier_executions_in_flight', 'crier_documents_waiting', 'crier_flow_waiting_bytes'],
];

export const flags = {
  minutes: whole('duration. All clients leave after each quarter; the first one is the warm-up', 30),
  connections: whole('MAX_CONNECTIONS of the pod', 4000),
  percent: whole('clients, in percent of it', 110),
  memory: whole(
    'MiB of the pod: its old space gets half, as in the image, and its RSS is compared with it; no container enforces it',
    512,
  ),
  rate: whole('records a second', 50),
  auctions: whole('auctions, of which each client watches one', 100),
  life: whole('longest life of a connection, in seconds', 120),
};

export const scenario = defineScenario({
  name: 'soak',
  question: `Runs a pod with clients that come and go, more than it admits. Without clients its gauges must return to 0, and its memory to
its value after the first quarter.`,
  flags,
  packages: ['ws', 'graphql'],
  notes: `Exits with 1 if the pod ends or exceeds its memory, refuses nobody, a gauge is not 0 without clients, or
memory does not return to its value after the first quarter.`,
  run: async (run) => {
    const { flags: plan, scope, say } = run;
    const pod = await startPod(plan, scope);
    const beforeClients = await keptMemoryOf(pod);
    const clients = startRemote<ChurningClients>('soak/churning-clients.js', scope);
    const count = Math.round((plan.connections * plan.percent) / 100);
    const { auctions, life } = plan;
    const churn = { port: pod.port, clients: count, query: auctionDocument(), auctions, maxLifeMs: life * 1000 };
    say(`${count} clients, ${plan.connections} admitted, ${plan.minutes} min`);
    const samples: Sample[] = [];
    const kept: KeptMemory[] = [];
    const unsettled: string[] = [];
    const startedAt = performance.now();
    let report!: ChurnReport;
    for (let round = 1; round <= ROUNDS; round++) {
      await clients.start(churn);
      const until = startedAt + (round / ROUNDS) * plan.minutes * 60_000;
      samples.push(...(await watchPod(pod, clients, { startedAt, until }, run)));
      report = await clients.leave();
      unsettled.push(...(await settle(pod, run.pause)));
      kept.push(await keptMemoryOf(pod));
      say(`without clients: RSS ${inMb(kept, 'residentBytes')} MB, heap ${inMb(kept, 'heapBytes')} MB`);
    }
    const refused = await pod.metric('crier_refusals_total{reason="connections"}');
    return soakReport(plan, { samples, report, beforeClients, kept, refused }, unsettled);
  },
});

/** Starts Kafka, Redis, a producer and a pod with its old space. */
async function startPod(plan: SoakPlan, scope: Scope): Promise<ServerProcess> {
  const [redis, kafka] = [await scope.redis(), await scope.kafka()];
  await createTopics(kafka.address, [{ topic: AUCTION_TOPIC, numPartitions: 4 }]);
  const environment = {
    ...{ GRAPH: 'loadtest/graphs/fanout', KAFKA_BROKERS: kafka.address, REDIS_URL: redis.url },
    MAX_CONNECTIONS: String(plan.connections),
  };
  const nodeArguments = ['--max-semi-space-size=16', `--max-old-space-size=${plan.memory / 2}`];
  const pod = await startServer({ environment, nodeArguments }, scope);
  await produce(kafka.address, plan, scope);
  return pod;
}

/** Samples the pod until a time of performance.now(). @throws Error when the pod ends. */
async function watchPod(
  pod: ServerProcess,
  clients: Remote<ChurningClients>,
  { startedAt, until }: { readonly startedAt: number; readonly until: number },
  { say, pause }: Run<typeof flags>,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  let ending: number | string | undefined;
  void pod.ended.then((code) => (ending = code));
  let reportedAt = performance.now();
  while (performance.now() < until) {
    await pause(SAMPLE_MS);
    if (ending !== undefined) throw new Error(`the pod ended with ${ending}`);
    const [connections, { messages: deliveries, shed }] = await Promise.all([
      pod.metric('crier_connections'),
      clients.report(),
    ]);
    const [minutes, residentMb] = [(performance.now() - startedAt) / 60_000, residentBytes(pod.pid) / MIB];
    samples.push({ minutes, residentMb, connections, deliveries, shed });
    if (performance.now() - reportedAt < PROGRESS_MS) continue;
    reportedAt = performance.now();
    const words = [
      `${connections} connections`,
      `RSS ${residentMb.toFixed(0)} MB`,
      `${deliveries} messages`,
      `${shed} shed`,
    ];
    say(`${minutes.toFixed(0)} min: ${words.join(', ')}`);
  }
  return samples;
}

/** What a pod without clients keeps. */
async function keptMemoryOf(pod: ServerProcess): Promise<KeptMemory> {
  return { residentBytes: await pod.keptBytes(), heapBytes: (await pod.report()).heapBytes };
}

/** Writes records for random auctions, at a constant rate. */
async function produce(brokers: string, { auctions, rate }: SoakPlan, scope: Scope): Promise<void> {
  const kafka = new kafkajs.Kafka({ clientId: 'soak', brokers: [brokers], logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  scope.after(() => producer.disconnect());
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
  scope.after(() => clearInterval(timer));
}

/** Waits until every gauge is 0. Returns a fault for each that is not. */
async function settle(pod: ServerProcess, pause: (ms: number) => Promise<void>): Promise<string[]> {
  for (const deadline = performance.now() + SETTLE_PATIENCE_MS; ; await pause(500)) {
    const metrics = await pod.metrics();
    const values = GAUGES.map((name) => [name, sumOfCounter(metrics, name)] as const);
    const wrong = values.filter(([name, value]) => value !== 0 || !metrics.includes(`\n${name} `));
    if (wrong.length === 0 || performance.now() > deadline)
      return wrong.map(([name, value]) => `${name} is ${value} without clients`);
  }
}
