import { isDockerReady, startDockerStack } from '../../deploy/docker-stack.ts';
import { startNativeStack } from '../../deploy/native-stack.ts';
import type { Stack } from '../../deploy/native-stack.ts';
import { freePorts } from '../../deploy/port.ts';
import { missingPrograms } from '../../deploy/programs.ts';

export interface StoryStack {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly hasKcat: boolean;
  readonly kind: 'native' | 'docker';
  stop(): Promise<void>;
}

/**
 * Kafka and Redis on free ports: as processes of this machine where their programs are there, else by Docker where it answers, else
 * what is missing is installed (Debian, as root). @throws Error that says what to install, and the signal's reason.
 */
export async function startStack(say: (line: string) => void, signal: AbortSignal): Promise<StoryStack> {
  const [kafkaPort, redisPort] = (await freePorts(2)) as [number, number];
  const isNative = (await missingPrograms(['redis-server', 'java', 'mvn'])).length === 0 || !(await isDockerReady());
  let stack: Stack;
  if (isNative) {
    stack = await startNativeStack({ kafkaPort, redisPort, say }, signal);
  } else {
    say('Starting Kafka and Redis by docker compose ...');
    process.env['KAFKA_PORT'] = String(kafkaPort);
    process.env['REDIS_PORT'] = String(redisPort);
    stack = await startDockerStack(signal);
  }
  return {
    kafkaBrokers: `127.0.0.1:${kafkaPort}`,
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    hasKcat: (await missingPrograms(['kcat'])).length === 0,
    kind: isNative ? 'native' : 'docker',
    stop: () => stack.stop(),
  };
}
