import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { cpuMs, cpuWaitMs } from './processes/process-usage.ts';
import { writeResult } from './result-files.ts';
import { drainFaults } from './rollout/drain-bounds.ts';
import type { DrainOutcome, DrainPlan } from './rollout/drain-bounds.ts';
import { drainTable } from './rollout/drain-table.ts';
import { flatnessOf } from './rollout/flatness.ts';
import { LOG_READERS, LogPipe } from './rollout/log-pipe.ts';
import type { LogReader } from './rollout/log-pipe.ts';
import { Rollout } from './rollout/rollout.ts';
import type { RolloutOptions } from './rollout/rollout.ts';
import { startStack } from './story/stack.ts';
import type { StoryStack } from './story/stack.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Drains one of two gateways that has all clients, and checks that they return to the other one.

Usage: npm run bench:drain -- [flags]

  --clients <number>   clients of the drained pod; default: 4000
  --resuming <number>  how many of them are @crier/client, which resumes; the others are stock graphql-ws; default: 200
  --rate <number>      records a second; default: 100
  --auctions <number>  auctions, of which a client watches one, or those of one event; default: 500
  --delay <ms>         DRAIN_DELAY_MS; default: 5000
  --spread <ms>        DRAIN_SPREAD_MS; default: 20000
  --log <names>        what the reader of the gateways' logs does, a drain for each: ${LOG_READERS.join(', ')} (default: all)
  --out <name>         loadtest/results/<name>.json and .md; default: drain
  --help

Exits with 1 if a bound is missed: closes even to 10 % of a second's share, readiness lost before the first close, exit with 0
in time, each client back within 10 s of its own close, the other pod's loop lag p99 at most 100 ms, nothing lost by @crier/client.
`;

const SEED = 1;
/** Exponent of the auctions' popularity. */
const ZIPF_EXPONENT = 0.5;
/** Time after the drain for clients to return, in ms. */
const PATIENCE_MS = 15_000;
/** What SHUTDOWN_TIMEOUT_MS leaves beside delay and spread. */
const FINISH_MS = 15_000;

const flag = (name: string) => ({ type: 'string', default: name }) as const;
const { values } = parseArgs({
  options: {
    clients: flag('4000'),
    resuming: flag('200'),
    rate: flag('100'),
    auctions: flag('500'),
    delay: flag('5000'),
    spread: flag('20000'),
    log: flag(LOG_READERS.join(',')),
    out: flag('drain'),
    help: { type: 'boolean', short: 'h' },
  },
});

interface Plan extends DrainPlan {
  readonly spreadMs: number;
  readonly auctions: number;
  readonly recordsPerSecond: number;
  readonly logReaders: readonly LogReader[];
}

function planOf(): Plan {
  const number = (name: 'clients' | 'resuming' | 'rate' | 'auctions' | 'delay' | 'spread') =>
    numberFlag(name, values[name], name === 'resuming' ? 0 : 1);
  const logReaders = values.log.split(',').map((name) => {
    const found = LOG_READERS.find((reader) => reader === name);
    if (!found) throw new Error(`--log: expected ${LOG_READERS.join(', ')}, got "${name}"`);
    return found;
  });
  const [delayMs, spreadMs, resuming] = [number('delay'), number('spread'), number('resuming')];
  const stock = number('clients') - resuming;
  if (stock < 1) throw new Error('--resuming: expected fewer than --clients');
  const shutdownTimeoutMs = delayMs + spreadMs + FINISH_MS;
  const [auctions, recordsPerSecond] = [number('auctions'), number('rate')];
  return { stock, resuming, delayMs, spreadMs, shutdownTimeoutMs, auctions, recordsPerSecond, logReaders };
}

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const plan = planOf();
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  try {
    const outcomes: DrainOutcome[] = [];
    for (const logReader of plan.logReaders) outcomes.push(await drainOnce(logReader, plan, stack, signal));
    await publish(outcomes, plan);
  } finally {
    await stack.stop();
  }
}

async function drainOnce(
  logReader: LogReader,
  plan: Plan,
  { kafkaBrokers, redisUrl }: StoryStack,
  signal: AbortSignal,
): Promise<DrainOutcome> {
  const options: RolloutOptions = {
    ...plan,
    ...{ kafkaBrokers, redisUrl, signal, seed: SEED, zipfExponent: ZIPF_EXPONENT },
  };
  const rollout = new Rollout(options);
  const closing: (() => void | Promise<void>)[] = [() => rollout.close()];
  const stop = () => void rollout.close();
  signal.addEventListener('abort', stop);
  try {
    return await drained(rollout, plan, await createLogs(logReader, closing));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', stop);
    for (const close of closing) await close();
  }
}

/** A pipe for each gateway. */
async function createLogs(logReader: LogReader, closing: (() => void | Promise<void>)[]) {
  const scope = { after: (fn: () => void | Promise<void>) => void closing.push(fn) };
  const pipes = [await LogPipe.create(logReader, scope), await LogPipe.create(logReader, scope)] as const;
  return { logReader, pipes };
}

async function drained(
  rollout: Rollout,
  { delayMs, spreadMs }: Plan,
  { logReader, pipes }: Awaited<ReturnType<typeof createLogs>>,
): Promise<DrainOutcome> {
  const environment = {
    DRAIN_DELAY_MS: `${delayMs}`,
    DRAIN_SPREAD_MS: `${spreadMs}`,
    // As by default. Other benchmarks have no limit.
    MAX_HANDSHAKES_PER_SECOND: '500',
    // A line for the end of each connection.
    LOG_LEVEL: 'debug',
  };
  say(`log reader ${logReader}: starts a worker and two gateways`);
  await rollout.start();
  await rollout.startPod('worker', {});
  const pod = await rollout.startPod('gateway', { environment, output: pipes[0].writer });
  const other = await rollout.startPod('gateway', { environment, output: pipes[1].writer });
  await rollout.route(pod);
  say('connects the clients to one of them');
  await rollout.connect();
  await rollout.begin();

  for (const pipe of pipes) pipe.lose();
  await other.reset();
  const cpuBefore = [cpuMs(pod.pid), cpuMs(other.pid)] as const;
  const waitBefore = cpuWaitMs(other.pid);
  let drainedCpuMs = 0;
  const sampling = setInterval(() => (drainedCpuMs = cpuMsUntilEnd(pod.pid, drainedCpuMs)), 100);
  say('SIGTERM');
  const times = await rollout.drain(pod, other).finally(() => clearInterval(sampling));
  const otherCpuMs = cpuMs(other.pid) - cpuBefore[1];
  const otherWaitMs = cpuWaitMs(other.pid) - waitBefore;
  say(`ended with ${times.ending} after ${((times.endedAt - times.signalledAt) / 1000).toFixed(1)} s`);
  await rollout.allBack(PATIENCE_MS);
  const { lagP99Ms } = await other.report();
  const { normal, resuming } = await rollout.fleet.closings();
  say('waits for the last records');
  const fleet = await rollout.settle();

  const closings = [...normal, ...resuming].sort((a, b) => a.at - b.at);
  const codes: Record<string, number> = {};
  for (const { code } of closings) codes[code] = (codes[code] ?? 0) + 1;
  const times1001 = closings.filter(({ code }) => code === 1001).map(({ at }) => at);
  const elapsedMs = times.endedAt - times.signalledAt;
  return {
    logReader,
    unreadyMs: times.unreadyAt - times.signalledAt,
    firstCloseMs: (times1001[0] ?? Infinity) - times.signalledAt,
    endedMs: elapsedMs,
    ending: times.ending,
    flatness: flatnessOf(times1001, spreadMs),
    codes,
    lagP99Ms,
    drainedCpuPercent: ((drainedCpuMs - cpuBefore[0]) / elapsedMs) * 100,
    otherCpuPercent: (otherCpuMs / elapsedMs) * 100,
    waitPercent: (otherWaitMs / elapsedMs) * 100,
    fleet,
  };
}

/** CPU time of a process that may have ended: then `last`. */
function cpuMsUntilEnd(pid: number, last: number): number {
  try {
    return cpuMs(pid);
  } catch {
    return last;
  }
}

async function publish(outcomes: readonly DrainOutcome[], plan: Plan): Promise<void> {
  const faults = outcomes.flatMap((outcome) => drainFaults(outcome, plan));
  const table = drainTable(outcomes);
  const flags = Object.entries(values)
    .map(([name, value]) => `--${name} ${value}`)
    .join(' ');
  const packages = ['ws', 'graphql', 'graphql-ws'].map((name) => `node_modules/${name}`);
  const conditions = { ...conditionsOf(packages), flags };
  const verdict = faults.length === 0 ? 'Every bound was kept.' : faults.join('\n\n');
  const md = `# Results: ${values.out}\n\n${markdownTable(table)}\n${verdict}\n\n${conditionsList(conditions)}`;
  const paths = await writeResult(values.out, { conditions, outcomes, faults }, { md });
  process.stdout.write(`\n${textTable(table)}\n${paths.join(' ')}\n`);
  for (const fault of faults) say(`drain: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

runCommand('drain', main);
