import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { until } from '../../stack/until.ts';
import type { Release } from './release.ts';

const QUERY = 'subscription { order_updated { order_id status } }';
/** Of a command of npm, in ms. */
const TIMEOUT_MS = 10 * 60_000;

/** What a newcomer types in an empty folder, with the packages of the local registry, until the first event and Ctrl-C. */
export async function project(release: Release): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-project-'));
  release.after(() => rm(folder, { recursive: true, force: true }));
  const environment = newcomersEnvironment(release, join(folder, 'cache'));
  const workplace = await mkdtemp(join(folder, 'empty-'));
  const app = join(workplace, 'app');
  const npm = (cwd: string, ...words: string[]) =>
    promisify(execFile)('npm', words, { cwd, env: environment, timeout: TIMEOUT_MS });

  const seconds = stopwatch();
  await npm(workplace, 'create', '--yes', release.scope, 'app');
  const created = seconds();
  await npm(app, 'install');
  const installed = seconds();
  const event = await firstEvent(app);
  return `npm create ${created} s, npm install ${installed} s, npm start to ${event} and its end ${seconds()} s`;
}

/** Without the settings that npm passes to its scripts, and with an empty cache: npx keeps packages by their version. */
function newcomersEnvironment({ scope, registry }: Release, cache: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'));
  return { ...Object.fromEntries(kept), [`npm_config_${scope}:registry`]: registry, npm_config_cache: cache };
}

/** Starts the project, and ends it as Ctrl-C does: the signal reaches npm and crier. @returns the data of the first event */
async function firstEvent(app: string): Promise<string> {
  const server = spawn('npm', ['start'], {
    cwd: app,
    detached: true,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let hasEnded = false;
  // It comes when npm, and what holds its output, have ended.
  server.once('close', () => (hasEnded = true));
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    const address = () => /ws:[^\s"]+/.exec(output)?.[0];
    await until('the address of the server', () => Promise.resolve(hasEnded || address() !== undefined));
    if (hasEnded) throw new Error('it ended');
    const event = await eventOf(address()!);
    process.kill(-server.pid!, 'SIGINT');
    await until('its end after Ctrl-C', () => Promise.resolve(hasEnded));
    // npm ends with the signal, whatever its script does.
    if (!output.includes('"msg":"closed"')) throw new Error('Ctrl-C did not end it cleanly');
    return JSON.stringify(event);
  } catch (error) {
    throw new Error(`npm start: ${(error as Error).message}\n${output}`, { cause: error });
  } finally {
    if (!hasEnded) process.kill(-server.pid!, 'SIGKILL');
  }
}

/** The data of the first event that a client of graphql-ws receives. */
async function eventOf(url: string): Promise<unknown> {
  const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
  let data: unknown;
  let failure: unknown;
  client.subscribe(
    { query: QUERY },
    {
      next: (result) => (data ??= result.data),
      error: (error) => (failure = error),
      complete: () => (failure ??= 'complete'),
    },
  );
  await until('the first event', () => Promise.resolve(data !== undefined || failure !== undefined));
  if (data === undefined) throw new Error(`the subscription ended: ${inspect(failure)}`);
  await client.dispose();
  return data;
}

/** Seconds since the last call, with one decimal. */
function stopwatch(): () => string {
  let last = performance.now();
  return () => {
    const before = last;
    last = performance.now();
    return ((last - before) / 1000).toFixed(1);
  };
}
