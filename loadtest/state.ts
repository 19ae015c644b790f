import { Redis } from 'ioredis';
import { createTopics } from '../stack/topics.ts';
import { Outside } from '../test/kafka/consumer-harness.ts';
import { graphFolder } from './fanout/graph-variant.ts';
import { sumOfCounter } from './processes/metrics.ts';
import { startServer } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { secondsOf, sum } from './runner/spread.ts';
import { faultOf, openStateClients } from './state/state-clients.ts';
import type { StateClient } from './state/state-clients.ts';

const TOPIC = 'orders';
const PARTITIONS = 4;
const RECORDS_PER_SEND = 5000;
const LEAST_RATE = 20_000;
const PATIENCE_MS = 120_000;
/** Until all clients have their first event. */
const MAX_UPDATES = 1000;
const MAX_FAULTS = 5;
const SCHEMA = `
  type Subscription { order(key: ID!): Order @kafka(topic: "${TOPIC}", match: [{ arg: "key", path: "key" }], state: {}) }
  type Order { key: ID seq: Int text: String }
`;

export const scenario = defineScenario({
  name: 'state',
  question:
    'Fills the states of a topic with one record for each key, then lets clients subscribe at once while their keys are updated.',
  flags: {
    keys: whole('keys of the topic, each with one record', 200_000),
    sockets: whole('clients, each of another key', 4000),
    updates: whole('updates of each client’s key after all clients have their first event', 10),
    rate: whole('updates a second, of all keys together', 2000),
    bytes: whole('size of a record', 300),
  },
  packages: ['ws', 'kafkajs', 'ioredis'],
  notes: `Exits with 1 if a client's first event and the events after it are not every update of its key once and in order, or if the fill reads
fewer than ${LEAST_RATE} records a second.`,
  run: async ({ flags: { keys, sockets, updates, rate, bytes }, scope, say, pause }) => {
    if (sockets > keys) throw new Error(`--sockets: expected at most --keys, ${keys}, got ${sockets}`);
    const [broker, redis] = [await scope.kafka(), await scope.redis()];
    const outside = new Outside(broker.address);
    await outside.connect();
    scope.after(() => outside.close());
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }];
    await createTopics(broker.address, [{ topic: TOPIC, numPartitions: PARTITIONS, configEntries }]);
    const write = async (seq: number, count: number) => {
      for (let from = 0; from < count; from += RECORDS_PER_SEND) {
        const length = Math.min(RECORDS_PER_SEND, count - from);
        const messages = Array.from({ length }, (_, i) => ({
          key: `${from + i}`,
          value: recordOf(from + i, seq, bytes),
        }));
        await outside.send(TOPIC, messages);
      }
    };
    say(`writes ${keys} records`);
    await write(0, keys);
    const client = new Redis(redis.url);
    scope.after(() => client.disconnect());
    const memory = async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
    const memoryBefore = await memory();
    const environment = {
      GRAPH: await graphFolder({ 'schema.graphql': SCHEMA }, scope),
      ...{ KAFKA_BROKERS: broker.address, KAFKA_GROUP_ID: 'bench', REDIS_URL: redis.url, CHANNEL_PREFIX: 'bench:' },
    };
    const server = await startServer({ environment, nodeArguments: startArguments() }, scope);
    const fillSeconds = await fill(server, keys, pause);
    const bytesPerKey = ((await memory()) - memoryBefore) / keys;
    say(`${sockets} clients subscribe while their keys are updated`);
    await server.reset();
    const clients = openStateClients(server.port, sockets);
    let last = 0;
    const beganAt = performance.now();
    const update = async () => {
      await write(++last, sockets);
      await pause(Math.max(0, beganAt + ((last * sockets) / rate) * 1000 - performance.now()));
    };
    while (!clients.every(({ seqs }) => seqs.length > 0) && last < MAX_UPDATES) await update();
    for (let i = 0; i < updates; i++) await update();
    const isDone = ({ seqs, notes }: StateClient) => seqs.at(-1) === last || notes.length > 0;
    for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt && !clients.every(isDone);) await pause(50);
    const { lagP99Ms, residentBytes } = await server.report();
    const faults = clients.flatMap((one) => faultOf(one, last) ?? []);
    for (const { socket } of clients) socket?.terminate();
    const perSecond = keys / fillSeconds;
    const firsts = clients.flatMap(({ firstMs }) => firstMs ?? []);
    const table = [
      ['keys', String(keys)],
      ['record, bytes', String(bytes)],
      ['records filled a second', perSecond.toFixed(0)],
      ['Redis memory for a key, bytes', bytesPerKey.toFixed(0)],
      ['updates a second, at most', String(rate)],
      ['clients that subscribe at once', String(sockets)],
      ['first event after the connect, s: first / p50 / last', secondsOf(firsts)],
      ['events received', String(sum(clients.map(({ seqs }) => seqs.length)))],
      ['loop lag p99 in the storm, ms', lagP99Ms.toFixed(1)],
      ['memory of the pod after it, MB', (residentBytes / 1024 / 1024).toFixed(0)],
    ];
    return {
      sections: [{ table }],
      success: 'Every client received every update of its key once and in order.',
      faults: [
        ...faults.slice(0, MAX_FAULTS),
        ...(faults.length > MAX_FAULTS ? [`${faults.length - MAX_FAULTS} more clients`] : []),
        ...(perSecond < LEAST_RATE ? [`${perSecond.toFixed(0)} records a second, fewer than ${LEAST_RATE}`] : []),
      ],
      data: { figures: Object.fromEntries(table) as unknown },
    };
  },
});

function recordOf(key: number, seq: number, bytes: number): string {
  const record = { key: String(key), seq, text: '' };
  return JSON.stringify({ ...record, text: 'x'.repeat(Math.max(0, bytes - JSON.stringify(record).length)) });
}

/** Resolves when the gateway knows that all states are complete, with the seconds in which the records were read. */
async function fill(server: ServerProcess, keys: number, pause: (ms: number) => Promise<void>): Promise<number> {
  let before = performance.now();
  let seconds: number | undefined;
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt; await pause(20)) {
    const metrics = await server.metrics();
    const read = sumOfCounter(metrics, `crier_records_consumed_total{topic="${TOPIC}"}`);
    // The first records are read after the last look that found none.
    if (read === 0) before = performance.now();
    if (read >= keys) seconds ??= (performance.now() - before) / 1000;
    if (seconds !== undefined && sumOfCounter(metrics, `crier_states_complete{topic="${TOPIC}"}`) === 1) return seconds;
  }
  throw new Error(`the states were not filled within ${PATIENCE_MS / 1000} s`);
}
