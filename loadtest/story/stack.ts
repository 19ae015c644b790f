import { isDockerReady, startDockerStack } from '../../stack/docker-stack.ts';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { LONG_LIVED } from '../../stack/kafka-node.ts';
import { freePorts } from '../../stack/port.ts';
import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import { startRedisServer } from '../../stack/redis-server.ts';

export interface StoryStack {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  /** Whether kcat is installed; otherwise kafkajs writes the records. */
  readonly hasKcat: boolean;
  readonly kind: 'native' | 'docker';
  stop(): Promise<void>;
}

type Say = (line: string) => void;

/**
 * Starts Kafka and Redis on free ports: natively if their programs are installed, else by Docker, else natively after installing what is
 * missing (Debian, as root). @throws Error that says what to install; the signal's reason.
 */
export async function startStack(say: Say, signal: AbortSignal): Promise<StoryStack> {
  const missing = await missingPrograms(['redis-server', 'java', 'mvn']);
  if (missing.length > 0 && (await isDockerReady())) return startByDocker(say, signal);
  await installPrograms(missing);
  const hasKcat = await findKcat(say);
  signal.throwIfAborted();
  say("Starting Redis and Kafka (the first time Maven fetches Kafka's jars) ...");
  const redis = await startRedisServer();
  try {
    signal.throwIfAborted();
    const kafka = await startKafkaBroker({ javaFlags: LONG_LIVED });
    const stop = async () => void (await Promise.all([kafka.stop(), redis.stop()]));
    return { kafkaBrokers: kafka.address, redisUrl: redis.url, hasKcat, kind: 'native', stop };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

async function startByDocker(say: Say, signal: AbortSignal): Promise<StoryStack> {
  say('Starting Kafka and Redis by docker compose ...');
  const [kafkaPort, redisPort] = (await freePorts(2)) as [number, number];
  process.env['KAFKA_PORT'] = String(kafkaPort);
  process.env['REDIS_PORT'] = String(redisPort);
  const hasKcat = await findKcat(say);
  const stack = await startDockerStack(redisPort, signal);
  return {
    kafkaBrokers: `127.0.0.1:${kafkaPort}`,
    redisUrl: stack.redisUrl,
    hasKcat,
    kind: 'docker',
    stop: () => stack.stop(),
  };
}

/** Whether kcat is installed, or could be. */
async function findKcat(say: Say): Promise<boolean> {
  const missing = await missingPrograms(['kcat']);
  try {
    await installPrograms(missing);
    return (await missingPrograms(['kcat'])).length === 0;
  } catch (error) {
    say(`${(error as Error).message}; without it kafkajs writes the records`);
    return false;
  }
}
