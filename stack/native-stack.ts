import type { ChildProcess } from 'node:child_process';
import { installKafka, startKafkaBroker } from './kafka-broker.ts';
import { LONG_LIVED } from './kafka-node.ts';
import { startKafkaCluster } from './kafka-cluster.ts';
import { installPrograms, missingPrograms } from './programs.ts';
import { startRedis } from './redis.ts';
import type { RedisKind } from './redis.ts';
import { startSchemaRegistry } from './schema-registry.ts';

/** A running Kafka and Redis, and a schema registry if one was asked for. */
export interface Stack {
  /** For REDIS_URL. */
  readonly redisUrl: string;
  /** Resolves with the reason when a server ends without `stop`. */
  ended(): Promise<string>;
  /** Resolves when the servers have ended and their data is removed. Idempotent. */
  stop(): Promise<void>;
}

interface NativeStackOptions {
  /** One port for each broker. */
  readonly kafkaPorts: readonly number[];
  /** Of the first Redis server. */
  readonly redisPort: number;
  readonly redisKind: RedisKind;
  /** Not set: no schema registry. */
  readonly registryPort: number | undefined;
  /** Reports progress to the terminal. */
  readonly say: (line: string) => void;
}

/**
 * Starts Kafka, Redis and the schema registry as processes of this machine.
 * @throws when a program is missing, a server does not start, or `stop` is aborted meanwhile. No server runs then.
 */
export async function startNativeStack(
  { kafkaPorts, redisPort, redisKind, registryPort, say }: NativeStackOptions,
  stop: AbortSignal,
): Promise<Stack> {
  await installPrograms(await missingPrograms(['redis-server', 'java', 'mvn', 'kcat']));
  const processes: ChildProcess[] = [];
  const stops: (() => Promise<void>)[] = [];
  const stopAll = async () => void (await Promise.all(stops.map((stopOne) => stopOne())));
  try {
    say('Starting Redis ...');
    const redis = await startRedis(redisKind, redisPort);
    processes.push(...redis.processes);
    stops.push(() => redis.stop());
    const ended = () => Promise.race(processes.map(whenEnded));
    const stack: Stack = { redisUrl: redis.url, ended, stop: stopAll };
    stop.throwIfAborted();
    say("Starting Kafka (the first time Maven fetches Kafka's jars) ...");
    await installKafka();
    stop.throwIfAborted();
    const { stop: stopKafka, processes: brokers } = await startBrokers(kafkaPorts);
    processes.push(...brokers);
    stops.push(stopKafka);
    stop.throwIfAborted();
    if (registryPort === undefined) return stack;
    say('Starting the schema registry (the first time Maven fetches it) ...');
    const registry = await startSchemaRegistry({ port: registryPort });
    processes.push(registry.process);
    stops.push(() => registry.stop());
    stop.throwIfAborted();
    return stack;
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** A single broker may use more memory. */
async function startBrokers(
  ports: readonly number[],
): Promise<{ readonly processes: readonly ChildProcess[]; readonly stop: () => Promise<void> }> {
  if (ports.length > 1) {
    const { nodes, stop } = await startKafkaCluster(ports);
    return { processes: nodes.map((node) => node.process), stop };
  }
  const broker = await startKafkaBroker({ port: ports[0]!, javaFlags: LONG_LIVED });
  return { processes: [broker.process], stop: () => broker.stop() };
}

async function whenEnded(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  return `${child.spawnfile} ended unexpectedly (${child.exitCode ?? child.signalCode})`;
}
