import { installPrograms, missingPrograms } from '../../stack/programs.ts';
import type { Scope } from '../runner/scope.ts';

export interface StoryStack {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  /** Whether kcat is installed; otherwise kafkajs writes the records. */
  readonly hasKcat: boolean;
}

/** Starts Kafka and Redis on free ports, after installing what is missing (Debian, as root). @throws Error that says what to install */
export async function startStack(scope: Scope, say: (line: string) => void): Promise<StoryStack> {
  await installPrograms(await missingPrograms(['redis-server', 'java', 'mvn']));
  const hasKcat = await findKcat(say);
  say("Starting Redis and Kafka (the first time Maven fetches Kafka's jars) ...");
  const [redis, kafka] = [await scope.redis(), await scope.kafka()];
  return { kafkaBrokers: kafka.address, redisUrl: redis.url, hasKcat };
}

/** Whether kcat is installed, or could be. */
async function findKcat(say: (line: string) => void): Promise<boolean> {
  try {
    await installPrograms(await missingPrograms(['kcat']));
    return (await missingPrograms(['kcat'])).length === 0;
  } catch (error) {
    say(`${(error as Error).message}; without it kafkajs writes the records`);
    return false;
  }
}
