import { installKafka, startKafkaBroker } from './kafka-broker.ts';
import { installPrograms, missingPrograms } from './programs.ts';
import { startRedisServer } from './redis-server.ts';
import type { Service } from './service.ts';

/** A running Kafka and Redis. */
export interface Stack {
  /** Resolves with the reason when a server ends without having been stopped. */
  ended(): Promise<string>;
  /** Resolves when nothing is left of it. Idempotent. */
  stop(): Promise<void>;
}

interface NativeStackOptions {
  readonly kafkaPort: number;
  readonly redisPort: number;
  /** Tells the person at the terminal what happens. */
  readonly say: (line: string) => void;
}

/**
 * Kafka and Redis as processes of this machine.
 * @throws when a program is missing, a server does not start, or `stop` was aborted meanwhile; then nothing runs.
 */
export async function startNativeStack(
  { kafkaPort, redisPort, say }: NativeStackOptions,
  stop: AbortSignal,
): Promise<Stack> {
  const missing = await missingPrograms(['redis-server', 'java', 'mvn', 'kcat']);
  if (missing.length > 0) say(`Installing ${missing.join(', ')} ...`);
  await installPrograms(missing);
  const services: Service[] = [];
  const stack: Stack = {
    ended: () => Promise.race(services.map(whenEnded)),
    stop: async () => void (await Promise.all(services.map((service) => service.stop()))),
  };
  try {
    say('Starting Redis ...');
    services.push(await startRedisServer({ port: redisPort }));
    stop.throwIfAborted();
    say("Starting Kafka (the first time Maven fetches Kafka's jars) ...");
    await installKafka();
    stop.throwIfAborted();
    services.push(await startKafkaBroker({ port: kafkaPort }));
    stop.throwIfAborted();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

async function whenEnded({ process: child }: Service): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await new Promise((resolve) => child.once('exit', resolve));
  return `${child.spawnfile} ended by itself (${child.exitCode ?? child.signalCode})`;
}
