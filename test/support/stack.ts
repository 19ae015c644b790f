import { spawn } from 'node:child_process';
import type { Scope } from './socket.ts';

/** No engine answers at this address, so that the native stack is tested on every machine. */
export const NO_DOCKER = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' };

const NO_SETTINGS = { KAFKA_PORT: '', REDIS_PORT: '', SCHEMA_REGISTRY_PORT: '', GRAPH: '' };

/** `npm run stack`, killed at the end of the test. */
export function runStack(scope: Scope, environment: Record<string, string>, commandArguments: string[] = []) {
  const child = spawn(process.execPath, ['dist/stack/stack.js', ...commandArguments], {
    env: { ...process.env, ...NO_SETTINGS, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const result = { child, output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (result.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (result.errors += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  scope.after(() => void child.kill('SIGKILL'));
  return Object.assign(result, { exited });
}
