import { parseArgs } from 'node:util';
import { isDockerReady, startDockerStack } from './docker-stack.ts';
import { startNativeStack } from './native-stack.ts';
import { isPortTaken } from './port.ts';
import { REDIS_KINDS, REDIS_PORTS } from './redis.ts';
import type { RedisKind } from './redis.ts';
import { registryUrl } from './schema-registry.ts';
import { stopSignal } from './stop-signal.ts';
import { createGraphTopics, readTopics } from './topics.ts';
import type { GraphTopic } from './topics.ts';

const BUILT_IN_GRAPH = 'examples/auction';

const USAGE = `npm run stack: a Kafka and a Redis for crier on this machine, until Ctrl-C.

Uses docker compose where a Docker engine answers. Elsewhere it runs them natively (redis-server, Java, Kafka's jars by
Maven); what is missing is installed on Debian as root, and named otherwise. Nothing is kept: both start empty.
If a topic of the graph has a format other than JSON, a schema registry is started, too (Apicurio, natively).

  KAFKA_PORT            port of Kafka on 127.0.0.1 (default 9092)
  REDIS_PORT            port of Redis on 127.0.0.1 (default 6379)
  SCHEMA_REGISTRY_PORT  port of the schema registry on 127.0.0.1 (default 8081)
  GRAPH                 graph folder whose topics are created (default: the built-in auction graph); topics that keep
                        states are compacted; "crier publish <topic> --create" creates others

  --registry  start a schema registry, whatever the graph says
  --brokers 3 as many Kafka brokers, natively, on KAFKA_PORT and the ports behind it; from three on any one may be ended:
              each record has three replicas, and two suffice (default: 1)
  --redis cluster
              a Redis Cluster of three shards with a replica each, natively, on REDIS_PORT and the five ports behind it
  --redis sentinel
              a primary, a replica and three Sentinels, natively, on REDIS_PORT and the four ports behind it
  --help      this text
`;

interface Settings {
  /** One port for each broker. */
  readonly kafkaPorts: readonly number[];
  readonly redisPort: number;
  readonly redisKind: RedisKind;
  readonly registryPort: number;
  readonly graph: string;
}

function readSettings(environment: NodeJS.ProcessEnv, { brokers, redis }: Arguments): Settings {
  const kafkaPort = readPort(environment, 'KAFKA_PORT', 9092);
  return {
    kafkaPorts: Array.from({ length: brokers }, (_, i) => kafkaPort + i),
    redisPort: readPort(environment, 'REDIS_PORT', 6379),
    redisKind: redis,
    registryPort: readPort(environment, 'SCHEMA_REGISTRY_PORT', 8081),
    graph: environment['GRAPH'] || BUILT_IN_GRAPH,
  };
}

function readPort(environment: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const value = environment[name] || `${fallback}`;
  const port = Number(value);
  if (/^\d+$/.test(value) && port >= 1 && port <= 65535) return port;
  throw new Error(`${name}: expected a port, 1 to 65535, got ${JSON.stringify(value)}`);
}

async function refuseTakenPort(name: string, port: number): Promise<void> {
  if (!(await isPortTaken(port))) return;
  throw new Error(
    `${name}: port ${port} on 127.0.0.1 is in use; stop the process that listens there, or choose another port: ` +
      `${name}=${port + 1} npm run stack`,
  );
}

/** Reports progress on standard error. Standard output is for the commands to paste. */
function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function howToGoOn(
  { kafkaPorts, registryPort, graph }: Settings,
  redisUrl: string,
  topics: readonly GraphTopic[],
  hasRegistry: boolean,
): string {
  const brokers = brokersOf(kafkaPorts);
  const graphSetting = graph === BUILT_IN_GRAPH ? '' : ` GRAPH=${graph}`;
  const registry = hasRegistry ? registryUrl(registryPort) : '';
  const first = topics.find(({ hasSchema }) => !hasSchema);
  const example = first
    ? `
Write a record with the key 1:

  printf '%s\\n' '1:${first.example}' | kcat -P -K: -b ${brokers} -t ${first.name}
`
    : '';
  return `
Kafka on ${brokers}, topics: ${topics.map(({ name }) => name).join(', ') || 'none'}
Redis on ${redisUrl}
${registry && `Schema registry on ${registry}\n`}
Start a pod on them in another terminal (a second one with a PORT and an ADMIN_PORT of its own):

  KAFKA_BROKERS=${brokers} REDIS_URL=${redisUrl}${registry && ` SCHEMA_REGISTRY_URL=${registry}`}${graphSetting} npm start
${example}
Ctrl-C stops all of it.
`;
}

async function runStack(settings: Settings, isRegistryWanted: boolean, stop: AbortSignal): Promise<void> {
  const topics = await readTopics(settings.graph);
  if (!topics && settings.graph !== BUILT_IN_GRAPH) {
    throw new Error(`GRAPH: expected a folder with a schema.graphql, got ${JSON.stringify(settings.graph)}`);
  }
  for (const port of settings.kafkaPorts) await refuseTakenPort('KAFKA_PORT', port);
  for (let i = 0; i < REDIS_PORTS[settings.redisKind]; i++) await refuseTakenPort('REDIS_PORT', settings.redisPort + i);
  const hasRegistry = isRegistryWanted || (topics ?? []).some(({ hasSchema }) => hasSchema);
  const registryPort = hasRegistry ? settings.registryPort : undefined;
  if (registryPort !== undefined) await refuseTakenPort('SCHEMA_REGISTRY_PORT', registryPort);
  // The compose file has one broker, one Redis, and no schema registry.
  const isOfCompose = settings.kafkaPorts.length === 1 && settings.redisKind === 'one' && !hasRegistry;
  const hasDocker = isOfCompose && (await isDockerReady());
  say(
    hasDocker
      ? 'Using docker compose: a Docker engine is reachable.'
      : 'Using processes of this machine: no Docker engine with compose is reachable, or there are several brokers, several Redis servers or a schema registry.',
  );
  const stack = hasDocker
    ? await startDockerStack(settings.redisPort, stop)
    : await startNativeStack({ ...settings, registryPort, say }, stop);
  try {
    await createGraphTopics(brokersOf(settings.kafkaPorts), topics ?? []);
    process.stdout.write(howToGoOn(settings, stack.redisUrl, topics ?? [], hasRegistry));
    const stopped = new Promise<undefined>((resolve) => {
      if (stop.aborted) resolve(undefined);
      stop.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    const failure = await Promise.race([stopped, stack.ended()]);
    if (failure) throw new Error(failure);
  } finally {
    say('Stopping ...');
    await stack.stop();
  }
}

function brokersOf(ports: readonly number[]): string {
  return ports.map((port) => `127.0.0.1:${port}`).join(',');
}

interface Arguments {
  readonly help: boolean;
  readonly registry: boolean;
  readonly brokers: number;
  readonly redis: RedisKind;
}

function readArguments(): Arguments {
  const options = {
    help: { type: 'boolean', default: false },
    registry: { type: 'boolean', default: false },
    brokers: { type: 'string', default: '1' },
    redis: { type: 'string', default: 'one' },
  } as const;
  const { brokers, redis, ...flags } = parseArgs({ options }).values;
  const kind = REDIS_KINDS.find((name) => name === redis);
  if (!kind) throw new Error(`--redis: expected ${REDIS_KINDS.join(', ')}, got ${JSON.stringify(redis)}`);
  if (!/^[1-9]$/.test(brokers)) throw new Error(`--brokers: expected a number, 1 to 9, got ${JSON.stringify(brokers)}`);
  return { ...flags, brokers: Number(brokers), redis: kind };
}

async function main(): Promise<void> {
  const asked = readArguments();
  if (asked.help) return void process.stdout.write(USAGE);
  const stop = stopSignal();
  try {
    await runStack(readSettings(process.env, asked), asked.registry, stop);
  } catch (error) {
    // An error after Ctrl-C is a consequence of Ctrl-C.
    if (!stop.aborted) throw error;
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  say(`stack: ${(error as Error).message}`);
  process.exit(1);
}
