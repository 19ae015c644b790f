import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { LONG_LIVED } from '../stack/kafka-node.ts';
import { freePorts } from '../stack/port.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { createTopics } from '../stack/topics.ts';
import { Outside } from '../test/kafka/consumer-harness.ts';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { startServerProcess } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { writeResult } from './result-files.ts';
import { faultOf, openStateClients } from './state/state-clients.ts';
import type { StateClient } from './state/state-clients.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Fills the states of a topic with one record for each key, then lets clients subscribe at once while their keys are updated.

Usage: npm run bench:state -- [flags]

  --keys <number>     keys of the topic, each with one record; default: 200000
  --sockets <number>  clients, each of another key; default: 4000
  --updates <number>  updates of each client's key after all clients have their first event; default: 10
  --rate <number>     updates a second, of all keys together; default: 2000
  --bytes <number>    size of a record; default: 300
  --out <name>        loadtest/results/<name>.json and .md; default: state
  --help

Exits with 1 if a client's first event and the events after it are not every update of its key once and in order, or if the fill reads
fewer than 20000 records a second.
`;

const TOPIC = 'orders';
const PREFIX = 'bench:';
const PARTITIONS = 4;
const RECORDS_PER_SEND = 5000;
const LEAST_RATE = 20_000;
const PATIENCE_MS = 120_000;
/** Until all clients have their first event. */
const MAX_UPDATES = 1000;

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '200000' },
    sockets: { type: 'string', default: '4000' },
    updates: { type: 'string', default: '10' },
    rate: { type: 'string', default: '2000' },
    bytes: { type: 'string', default: '300' },
    out: { type: 'string', default: 'state' },
    help: { type: 'boolean', short: 'h' },
  },
});

const SCHEMA = `
  type Subscription { order(key: ID!): Order @kafka(topic: "${TOPIC}", match: [{ arg: "key", path: "key" }], state: {}) }
  type Order { key: ID seq: Int text: String }
`;

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const [keys, sockets, updates, rate, bytes] = (['keys', 'sockets', 'updates', 'rate', 'bytes'] as const).map((flag) =>
    numberFlag(flag, values[flag]),
  ) as [number, number, number, number, number];
  if (sockets > keys) throw new Error(`--sockets: expected at most --keys, ${keys}, got ${sockets}`);
  pinThisProcess(CLIENT_CORE);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const broker = await startKafkaBroker({ javaFlags: LONG_LIVED });
    closing.push(() => broker.stop());
    const redis = await startRedisServer();
    closing.push(() => redis.stop());
    const outside = new Outside(broker.address);
    await outside.connect();
    closing.push(() => outside.close());
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
    await createTopics(broker.address, [{ topic: TOPIC, numPartitions: PARTITIONS, configEntries }]);
    const write = async (seq: number, count: number) => {
      for (let from = 0; from < count; from += RECORDS_PER_SEND) {
        const batch = Array.from({ length: Math.min(RECORDS_PER_SEND, count - from) }, (_, i) => from + i);
        await outside.send(
          TOPIC,
          batch.map((key) => ({ key: String(key), value: recordOf(key, seq, bytes) })),
        );
      }
    };
    say(`writes ${keys} records`);
    await write(0, keys);
    const client = new Redis(redis.url);
    closing.push(() => Promise.resolve(client.disconnect()));
    const memoryBefore = await memoryOf(client);
    const folder = await mkdtemp(join(tmpdir(), 'crier-graph-'));
    closing.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'schema.graphql'), SCHEMA);
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const settings = {
      GRAPH: folder,
      KAFKA_BROKERS: broker.address,
      KAFKA_GROUP_ID: 'bench',
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: PREFIX,
      ADMIN_PORT: String(adminPort),
    };
    const server = await startServerProcess(
      new URL('../src/main.js', import.meta.url).pathname,
      port,
      settings,
      startArguments(),
    );
    closing.push(() => server.stop());
    const fillSeconds = await fill(adminPort, keys, signal);
    const bytesPerKey = ((await memoryOf(client)) - memoryBefore) / keys;
    say(`${sockets} clients subscribe while their keys are updated`);
    await server.reset();
    const storm = openStateClients(`ws://127.0.0.1:${port}/graphql`, sockets);
    let last = 0;
    const beganAt = performance.now();
    const update = async () => {
      await write(++last, sockets);
      const dueMs = beganAt + ((last * sockets) / rate) * 1000 - performance.now();
      if (dueMs > 0) await delay(dueMs, undefined, { signal });
    };
    let clients: StateClient[] | undefined;
    void storm.then((opened) => (clients = opened)).catch(() => undefined);
    while (!clients?.every(({ seqs }) => seqs.length > 0) && last < MAX_UPDATES) await update();
    for (let i = 0; i < updates; i++) await update();
    clients = await storm;
    await settled(clients, last, signal);
    const { lagP99Ms, residentBytes } = await server.report();
    const faults = clients.flatMap((one) => faultOf(one, last) ?? []);
    for (const { socket } of clients) socket.terminate();
    await publish({ keys, fillSeconds, bytesPerKey, clients, lagP99Ms, residentBytes, faults });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function recordOf(key: number, seq: number, bytes: number): string {
  const record = { key: String(key), seq, text: '' };
  return JSON.stringify({ ...record, text: 'x'.repeat(Math.max(0, bytes - JSON.stringify(record).length)) });
}

async function memoryOf(client: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
}

/** Resolves when the gateway knows that all states are complete, with the seconds in which the records were read. */
async function fill(adminPort: number, keys: number, signal: AbortSignal): Promise<number> {
  let before = performance.now();
  let seconds: number | undefined;
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt;) {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    const read = Number(
      new RegExp(`^crier_records_consumed_total\\{topic="${TOPIC}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
    );
    // The first records are read after the last look that found none.
    if (read === 0) before = performance.now();
    if (read >= keys) seconds ??= (performance.now() - before) / 1000;
    if (seconds !== undefined && text.includes(`\ncrier_states_complete{topic="${TOPIC}"} 1\n`)) return seconds;
    await delay(20, undefined, { signal });
  }
  throw new Error(`the states were not filled within ${PATIENCE_MS / 1000} s`);
}

async function settled(clients: readonly StateClient[], updates: number, signal: AbortSignal): Promise<void> {
  const isDone = ({ seqs, notes }: StateClient) => seqs.at(-1) === updates || notes.length > 0;
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt && !clients.every(isDone);) {
    await delay(50, undefined, { signal });
  }
}

interface Figures {
  readonly keys: number;
  readonly fillSeconds: number;
  readonly bytesPerKey: number;
  readonly clients: readonly StateClient[];
  readonly lagP99Ms: number;
  readonly residentBytes: number;
  readonly faults: readonly string[];
}

async function publish(figures: Figures): Promise<void> {
  const { keys, fillSeconds, bytesPerKey, clients, lagP99Ms, residentBytes } = figures;
  const rate = keys / fillSeconds;
  const firsts = clients.flatMap(({ firstMs }) => firstMs ?? []).toSorted((a, b) => a - b);
  const at = (share: number) => ((firsts[Math.floor(share * (firsts.length - 1))] ?? NaN) / 1000).toFixed(2);
  const table = [
    ['keys', String(keys)],
    ['record, bytes', values.bytes],
    ['records filled a second', rate.toFixed(0)],
    ['Redis memory for a key, bytes', bytesPerKey.toFixed(0)],
    ['updates a second, at most', values.rate],
    ['clients that subscribe at once', String(clients.length)],
    ['first event after the connect, s: first / p50 / last', `${at(0)} / ${at(0.5)} / ${at(1)}`],
    ['events received', String(clients.reduce((sum, { seqs }) => sum + seqs.length, 0))],
    ['loop lag p99 in the storm, ms', lagP99Ms.toFixed(1)],
    ['memory of the pod after it, MB', (residentBytes / 1024 / 1024).toFixed(0)],
  ];
  const faults = [
    ...figures.faults.slice(0, 5),
    ...(figures.faults.length > 5 ? [`${figures.faults.length - 5} more clients`] : []),
    ...(rate < LEAST_RATE ? [`${rate.toFixed(0)} records a second, fewer than ${LEAST_RATE}`] : []),
  ];
  const conditions = { ...conditionsOf(['ws', 'kafkajs', 'ioredis'].map((name) => `node_modules/${name}`)) };
  const verdict =
    faults.length === 0 ? 'Every client received every update of its key once and in order.' : faults.join('\n\n');
  const md = `# Results: ${values.out}\n\n${markdownTable(table)}\n${verdict}\n\n${conditionsList(conditions)}`;
  const data = { conditions, figures: Object.fromEntries(table) as unknown, faults };
  const paths = await writeResult(values.out, data, { md });
  process.stdout.write(`\n${textTable(table)}\n${paths.join(' ')}\n`);
  for (const fault of faults) say(`state: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

runCommand('state', main);
