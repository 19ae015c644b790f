import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pinned, SERVER_CORE } from '../processes/pinning.ts';
import { readProfile } from '../profile/read-profile.ts';
import { partTimes } from './part-times.ts';

/** Figures of a start, from the process's begin to its line `ready`. */
export type StartCost = Awaited<ReturnType<typeof costOfStart>>;

export interface StartPlan {
  /** dist/src/main.js of a build. */
  readonly script: string;
  readonly nodeArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Longest start on a busy machine, in ms. */
const TIMEOUT_MS = 60_000;
const MS_PER_TICK = 10;

/** Starts a pod, and ends it once it has printed its line `ready`. @throws Error if it ends before */
export async function costOfStart(plan: StartPlan) {
  const startedAt = performance.now();
  return withPod(plan, async (pid) => {
    const wallMs = performance.now() - startedAt;
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/status`, 'utf8'),
    ]);
    // utime, stime, cutime and cstime follow the name, which may have spaces.
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    // User and system CPU of the process and its children. Linux counts in steps of 10 ms.
    const cpuMs = ticks.reduce((sum, count) => sum + count, 0) * MS_PER_TICK;
    const rssBytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
    return { cpuMs, wallMs, rssBytes };
  });
}

/** The files of the modules that a pod has loaded when it prints its line `ready`. */
export async function modulesOfStart(plan: StartPlan): Promise<string[]> {
  const files = new Set<string>();
  // V8's coverage names each script.
  const planOf = (folder: string) => ({ ...plan, environment: { ...plan.environment, NODE_V8_COVERAGE: folder } });
  await eachFileOf(planOf, async (path) => {
    const { result } = JSON.parse(await readFile(path, 'utf8')) as { result: { url: string }[] };
    for (const { url } of result) if (url.startsWith('file:')) files.add(decodeURIComponent(new URL(url).pathname));
  });
  return (await Promise.all([...files].map(modulesIn))).flat();
}

/** The sources of a chunk of crier's bundle; every other file is a module itself. */
async function modulesIn(file: string): Promise<string[]> {
  if (basename(dirname(file)) !== 'bundle') return [file];
  const { sources } = JSON.parse(await readFile(`${file}.map`, 'utf8')) as { sources: string[] };
  return sources.map((source) => resolve(dirname(file), source));
}

/** CPU time of a start until the pod has ended, in ms, by package and folder of crier. `node`: no module was on the stack. */
export async function partsOfStart(plan: StartPlan): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const planOf = (folder: string) => {
    return { ...plan, nodeArguments: [...plan.nodeArguments, '--cpu-prof', `--cpu-prof-dir=${folder}`] };
  };
  // One of each process: the compiler of documents has its own.
  await eachFileOf(planOf, async (path) => {
    for (const [part, ms] of partTimes(await readProfile(path))) times.set(part, (times.get(part) ?? 0) + ms);
  });
  return times;
}

/** Calls `read` with the files that Node writes to a folder when a pod ends. */
async function eachFileOf(planOf: (folder: string) => StartPlan, read: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-start-'));
  try {
    await withPod(planOf(folder), () => Promise.resolve());
    for (const name of await readdir(folder)) await read(join(folder, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Calls `look` at the line `ready`. Resolves when the pod has ended. */
async function withPod<Result>(
  { script, nodeArguments, environment }: StartPlan,
  look: (pid: number) => Promise<Result>,
): Promise<Result> {
  const [command, ...words] = pinned(SERVER_CORE, [process.execPath, ...nodeArguments, script]);
  const ports = { PORT: '0', ADMIN_PORT: '0', HOST: '127.0.0.1', ADMIN_HOST: '127.0.0.1' };
  const child = spawn(command, words, {
    env: { ...process.env, ...ports, LOG_LEVEL: 'silent', DRAIN_DELAY_MS: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: TIMEOUT_MS,
  });
  const ended = once(child, 'exit');
  try {
    const isReady = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)]);
    if (!isReady) throw new Error(`${script} ended before it was ready`);
    return await look(child.pid!);
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}
