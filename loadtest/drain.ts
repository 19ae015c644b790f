import { cpuMs, cpuWaitMs } from './processes/process-usage.ts';
import { drainFaults } from './rollout/drain-bounds.ts';
import type { DrainOutcome } from './rollout/drain-bounds.ts';
import { flatnessOf } from './rollout/flatness.ts';
import { LOG_READERS, LogPipe } from './rollout/log-pipe.ts';
import type { LogReader } from './rollout/log-pipe.ts';
import { Rollout } from './rollout/rollout.ts';
import { choices, whole } from './runner/flags.ts';
import type { LatencySummary } from './runner/latency.ts';
import { defineScenario } from './runner/scenario.ts';
import type { Run } from './runner/scenario.ts';
import { Scope } from './runner/scope.ts';
import { sumCounts } from './runner/spread.ts';
import type { Cells } from './runner/table.ts';
import { startStack } from './story/stack.ts';
import type { StoryStack } from './story/stack.ts';

/** Time after the drain for clients to return, in ms. */
const PATIENCE_MS = 15_000;
/** What SHUTDOWN_TIMEOUT_MS leaves beside delay and spread. */
const FINISH_MS = 15_000;

const flags = {
  clients: whole('clients of the drained pod', 4000),
  resuming: whole('how many of them are @crier/client, which resumes; the others are stock graphql-ws', 200, 0),
  rate: whole('records a second', 100),
  auctions: whole('auctions, of which a client watches one, or those of one event', 500),
  delay: whole('DRAIN_DELAY_MS', 5000),
  spread: whole('DRAIN_SPREAD_MS', 20_000),
  log: choices("what the reader of the gateways' logs does, a drain for each", LOG_READERS),
};

export const scenario = defineScenario({
  name: 'drain',
  question: 'Drains one of two gateways that has all clients, and checks that they return to the other one.',
  flags,
  notes: `Exits with 1 if a bound is missed: closes even to 10 % of a second's share, readiness lost before the first close, exit with 0
in time, each client back within 10 s of its own close, the other pod's loop lag p99 at most 100 ms, nothing lost by @crier/client.`,
  run: async (run) => {
    const { flags, scope, say } = run;
    const { clients, resuming, delay: delayMs, spread } = flags;
    if (resuming >= clients) throw new Error('--resuming: expected fewer than --clients');
    const stack = await startStack(scope, say);
    const outcomes: DrainOutcome[] = [];
    for (const logReader of flags.log) outcomes.push(await drainOnce(logReader, stack, run));
    const plan = { stock: clients - resuming, resuming, delayMs, shutdownTimeoutMs: delayMs + spread + FINISH_MS };
    return {
      sections: [{ table: tableOf(outcomes) }],
      success: 'Every bound was kept.',
      faults: outcomes.flatMap((outcome) => drainFaults(outcome, plan)),
      data: { outcomes },
    };
  },
});

async function drainOnce(logReader: LogReader, stack: StoryStack, run: Run<typeof flags>): Promise<DrainOutcome> {
  const { flags, say, signal } = run;
  const scope = new Scope();
  run.scope.after(() => scope.close());
  const { clients, resuming, auctions, rate: recordsPerSecond } = flags;
  const load = { seed: 1, zipfExponent: 0.5, stock: clients - resuming, resuming, auctions, recordsPerSecond };
  const rollout = new Rollout({ ...stack, ...load, signal }, scope);
  const pipes = [await LogPipe.create(logReader, scope), await LogPipe.create(logReader, scope)] as const;
  const environment = {
    DRAIN_DELAY_MS: `${flags.delay}`,
    DRAIN_SPREAD_MS: `${flags.spread}`,
    // As by default. Other benchmarks have no limit.
    MAX_HANDSHAKES_PER_SECOND: '500',
    // A line for the end of each connection.
    LOG_LEVEL: 'debug',
  };
  say(`log reader ${logReader}: starts a worker and two gateways`);
  await rollout.start();
  await rollout.startPod('worker');
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
  const elapsedMs = times.endedAt - times.signalledAt;
  say(`ended with ${times.ending} after ${(elapsedMs / 1000).toFixed(1)} s`);
  await rollout.allBack(PATIENCE_MS);
  const { lagP99Ms } = await other.report();
  const ends = await rollout.fleet.closings();
  say('waits for the last records');
  const fleet = await rollout.settle();
  await scope.close();

  const closings = [...ends.normal, ...ends.resuming].sort((a, b) => a.at - b.at);
  const times1001 = closings.filter(({ code }) => code === 1001).map(({ at }) => at);
  return {
    ...{ logReader, endedMs: elapsedMs, ending: times.ending, lagP99Ms, fleet },
    unreadyMs: times.unreadyAt - times.signalledAt,
    firstCloseMs: (times1001[0] ?? Infinity) - times.signalledAt,
    flatness: flatnessOf(times1001, flags.spread),
    codes: sumCounts(closings.map(({ code }) => ({ [code]: 1 }))),
    drainedCpuPercent: ((drainedCpuMs - cpuBefore[0]) / elapsedMs) * 100,
    otherCpuPercent: (otherCpuMs / elapsedMs) * 100,
    waitPercent: (otherWaitMs / elapsedMs) * 100,
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

/** A column for each drain. */
function tableOf(outcomes: readonly DrainOutcome[]): Cells[] {
  const row = (what: string, figure: (outcome: DrainOutcome) => string): Cells => [what, ...outcomes.map(figure)];
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  const times = ({ p50Ms, p99Ms, maxMs }: LatencySummary) => [p50Ms, p99Ms, maxMs].map(seconds).join(' / ');
  const codesOf = (codes: Readonly<Record<string, number>>) =>
    Object.entries(codes)
      .map(([code, count]) => `${count} × ${code}`)
      .join(', ') || 'none';
  return [
    row('the reader of the logs', ({ logReader }) => logReader),
    row('not ready after, s', ({ unreadyMs }) => seconds(unreadyMs)),
    row('first close after, s', ({ firstCloseMs }) => seconds(firstCloseMs)),
    row('pod ended after, s', ({ endedMs }) => seconds(endedMs)),
    row('pod ended with', ({ ending }) => String(ending)),
    row('closes by code', ({ codes }) => codesOf(codes)),
    row('closes a second, least to most', ({ flatness: { perSecond } }) =>
      [Math.min(...perSecond), Math.max(...perSecond)].join(' to '),
    ),
    row('largest deviation from even, %', ({ flatness }) => flatness.deviationPercent.toFixed(1)),
    row('attempts that failed', ({ fleet }) => codesOf({ ...fleet.failedAttempts, ...fleet.resuming?.failedAttempts })),
    row('stock: close to subscribed, p50 / p99 / max, s', ({ fleet }) => times(fleet.reconnects)),
    row('stock: events missed in between, of all', ({ fleet }) => `${fleet.missed} of ${fleet.expected}`),
    row('stock: lost within a connection', ({ fleet }) => String(fleet.lost)),
    row('@crier/client: close to subscribed, s', ({ fleet: { resuming } }) =>
      resuming ? times(resuming.reconnects) : '',
    ),
    row('@crier/client: lost, gaps, of all', ({ fleet: { resuming } }) =>
      resuming ? `${resuming.lost + resuming.missed}, ${resuming.gaps} of ${resuming.expected}` : '',
    ),
    row('other pod: loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    row('other pod: CPU, %', ({ otherCpuPercent }) => otherCpuPercent.toFixed(0)),
    row('drained pod: CPU, %', ({ drainedCpuPercent }) => drainedCpuPercent.toFixed(0)),
    row('waiting for a core, other pod; clients, %', ({ waitPercent, fleet }) =>
      [waitPercent, fleet.waitPercent].map((share) => share.toFixed(0)).join('; '),
    ),
    row('clients: CPU, %; loop lag p99, max, ms', ({ fleet }) =>
      [fleet.cpuPercent, fleet.lagP99Ms, fleet.lagMaxMs].map((figure) => figure.toFixed(0)).join('; '),
    ),
    row('delivery p50 / p99 / max, s', ({ fleet }) => times(fleet.latency)),
  ];
}
