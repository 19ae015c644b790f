import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import kafkajs from 'kafkajs';
import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { freePorts } from '../stack/port.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { createTopics } from '../stack/topics.ts';
import { runCommand, say } from './command.ts';
import { AUCTION_TOPIC, auctionDocument, auctionRecords } from './fanout/auction.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { RESULTS_FOLDER } from './fanout/results.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { callProcess } from './processes/process-call.ts';
import { residentBytes } from './processes/process-usage.ts';
import { startServerProcess, stopProcess } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import type { ChurnPlan, ChurnReport } from './soak/churning-clients.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Runs a pod with clients that come and go, more than it admits, and checks that everything returns to its start values.

Usage: npm run bench:soak -- [flags]

  --minutes <number>      duration; default: 30
  --connections <number>  MAX_CONNECTIONS of the pod; default: 4000
  --percent <number>      clients, in percent of it; default: 110
  --memory <number>       memory limit of the pod in MiB: its old space gets half of it, as in the image; default: 512
  --rate <number>         records a second; default: 50
  --auctions <number>     auctions, of which each client watches one; default: 100
  --life <number>         longest life of a connection, in seconds; default: 120
  --out <name>            loadtest/results/<name>.json and .md; default: soak
  --help

Exits with 1 if the pod ends or exceeds its memory, refuses nobody, or a value does not return to its start value.
`;

const WARM_UP_LIFE_MS = 5000;
const WARM_UP_MS = 20_000;
const SAMPLE_MS = 5000;
const PROGRESS_MS = 60_000;
const SETTLE_PATIENCE_MS = 60_000;
const MIB = 1024 * 1024;
/** Most that the pod may keep beyond its start value. A leak of 200 bytes for each of 100,000 connections exceeds it. */
const MAX_KEPT_BYTES = 16 * MIB;

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

interface Sample {
  readonly minutes: number;
  readonly residentMb: number;
  readonly connections: number;
  readonly deliveries: number;
  readonly shed: number;
}

type Metrics = (name: string) => number;

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const plan = planOf();
  pinThisProcess(CLIENT_CORE);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const { pod, port, adminPort } = await startPod(plan, closing);
    const clients = fork(new URL('soak/churning-clients.js', import.meta.url).pathname);
    closing.push(() => stopProcess(clients));
    const { minutes, auctions, life } = plan;
    const count = Math.round((plan.connections * plan.percent) / 100);
    const churn: ChurnPlan = { port, clients: count, query: auctionDocument(), auctions, maxLifeMs: life * 1000 };

    say('warm-up: every client once');
    await callProcess(clients, 'start', { ...churn, maxLifeMs: WARM_UP_LIFE_MS });
    await delay(WARM_UP_MS, undefined, { signal });
    await callProcess(clients, 'stop');
    await settle(adminPort);
    const startBytes = await pod.keptBytes();

    say(`${count} clients, ${plan.connections} admitted, ${minutes} min`);
    await callProcess(clients, 'start', churn);
    const samples = await watchPod(pod, adminPort, clients, minutes, signal);
    const report = await callProcess<ChurnReport>(clients, 'stop');
    const unsettled = await settle(adminPort);
    const keptBytes = (await pod.keptBytes()) - startBytes;
    const refused = (await metricsOf(adminPort))('crier_refusals_total{reason="connections"}');
    const faults = [...faultsOf(plan, { samples, report, keptBytes, startBytes, refused }), ...unsettled];
    await publish({ samples, report, keptBytes, startBytes, refused }, faults);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

interface Plan {
  readonly minutes: number;
  readonly connections: number;
  readonly percent: number;
  readonly memory: number;
  readonly rate: number;
  readonly auctions: number;
  readonly life: number;
}

function planOf(): Plan {
  const names = ['minutes', 'connections', 'percent', 'memory', 'rate', 'auctions', 'life'] as const;
  return Object.fromEntries(names.map((name) => [name, numberFlag(name, values[name])])) as unknown as Plan;
}

/** Starts Kafka, Redis, a producer and a pod with its memory limit. */
async function startPod(plan: Plan, closing: (() => Promise<unknown>)[]) {
  const redis = await startRedisServer();
  closing.push(() => redis.stop());
  const kafka = await startKafkaBroker();
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

/** Samples the pod until the minutes are over. @throws Error when the pod ends. */
async function watchPod(
  pod: ServerProcess,
  adminPort: number,
  clients: ChildProcess,
  minutes: number,
  signal: AbortSignal,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  let ending: number | string | undefined;
  void pod.ended.then((code) => (ending = code));
  let reportedAt = startedAt;
  while (performance.now() - startedAt < minutes * 60_000) {
    await delay(SAMPLE_MS, undefined, { signal });
    if (ending !== undefined) throw new Error(`the pod ended with ${ending}`);
    const sample = await sampleOf(pod, adminPort, clients, (performance.now() - startedAt) / 60_000);
    samples.push(sample);
    if (performance.now() - reportedAt < PROGRESS_MS) continue;
    reportedAt = performance.now();
    const { connections, residentMb, deliveries, shed } = sample;
    say(
      `${sample.minutes.toFixed(0)} min: ${connections} connections, RSS ${residentMb.toFixed(0)} MB, ${deliveries} messages, ${shed} shed`,
    );
  }
  return samples;
}

function faultsOf({ percent, memory }: Plan, outcome: Outcome): string[] {
  const { samples, report, keptBytes, refused } = outcome;
  const residentMb = Math.max(...samples.map((sample) => sample.residentMb));
  return [
    residentMb > memory && `RSS of ${residentMb.toFixed(0)} MB, more than ${memory}`,
    percent > 100 && report.shed === 0 && 'nobody was refused',
    // A client that ended while its refusal was on the way has not counted it.
    percent > 100 && refused < report.shed && `${report.shed} refusals seen, ${refused} counted by the pod`,
    report.messages === 0 && 'nothing was delivered',
    report.failed > 0 && `${report.failed} connections without an acknowledgement`,
    ...report.faults,
    keptBytes > MAX_KEPT_BYTES && `${(keptBytes / MIB).toFixed(1)} MB kept after the clients left`,
  ].filter((fault) => fault !== false);
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

interface Outcome {
  readonly samples: readonly Sample[];
  readonly report: ChurnReport;
  readonly startBytes: number;
  readonly keptBytes: number;
  /** As the pod counts. */
  readonly refused: number;
}

async function publish(outcome: Outcome, faults: readonly string[]): Promise<void> {
  const { samples, report, startBytes, keptBytes, refused } = outcome;
  const most = (read: (sample: Sample) => number) => Math.max(...samples.map(read));
  const table = [
    ['figure', 'value'],
    ['connections opened', String(report.opened)],
    ['shed with 1013, as clients see / as the pod counts', `${report.shed} / ${refused}`],
    ['closed by the pod otherwise', JSON.stringify(report.closed).replace(/[{}"]/g, '') || 'none'],
    ['most connections at once', String(most(({ connections }) => connections))],
    ['messages received', String(report.messages)],
    ['highest RSS, MB', most(({ residentMb }) => residentMb).toFixed(0)],
    ['RSS without clients, before, MB', (startBytes / MIB).toFixed(1)],
    ['RSS without clients, after, MB', ((startBytes + keptBytes) / MIB).toFixed(1)],
  ];
  const flags = Object.entries(values)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
  const conditions = { ...conditionsOf(['node_modules/ws', 'node_modules/graphql']), flags };
  const verdict = faults.length === 0 ? 'Everything returned to its start value.' : [...new Set(faults)].join('\n\n');
  const lines = Object.entries(conditions).map(([key, value]) => `- ${key}: ${String(value)}`);
  const path = `${RESULTS_FOLDER}/${values.out}`;
  await mkdir(RESULTS_FOLDER, { recursive: true });
  await writeFile(`${path}.json`, `${JSON.stringify({ conditions, ...outcome, faults }, null, 2)}\n`);
  await writeFile(
    `${path}.md`,
    `# Results: ${values.out}\n\n${markdownTable(table)}\n${verdict}\n\n${lines.join('\n')}\n`,
  );
  process.stdout.write(`\n${textTable(table)}\n${path}.json ${path}.md\n`);
  for (const fault of new Set(faults)) say(`soak: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

runCommand('soak', main);
