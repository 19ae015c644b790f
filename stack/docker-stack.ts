import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Stack } from './native-stack.ts';
import { runProgram } from './programs.ts';

const run = promisify(execFile);

const COMPOSE = ['compose', '--project-name', 'crier-stack'];

/** True if a Docker engine is reachable and the client has compose. */
export async function isDockerReady(): Promise<boolean> {
  try {
    await run('docker', ['info'], { timeout: 10_000 });
    await run('docker', ['compose', 'version'], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/** Kafka and Redis of docker-compose.yml, in a separate compose project. The compose file reads KAFKA_PORT and REDIS_PORT. */
export async function startDockerStack(redisPort: number, stop: AbortSignal): Promise<Stack> {
  const down = () => runProgram('docker', [...COMPOSE, 'down', '--volumes']);
  try {
    await runProgram('docker', [...COMPOSE, 'up', '--detach', '--wait', 'kafka', 'redis']);
    stop.throwIfAborted();
  } catch (error) {
    await down();
    throw error;
  }
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  return { redisUrl, ended: () => new Promise(() => undefined), stop: down };
}
