import { CRIER } from './processes/server-process.ts';
import { base, choice, choices, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { stormTrial } from './storm/trial.ts';
import type { StormFigures, StormKind, StormSubject } from './storm/trial.ts';

const MAX_SECONDS = 10;
const MAX_PAUSE_MS = 250;
const MAX_LAG_MS = 50;

const SUBJECTS: Readonly<Record<'crier' | 'raw-ws', StormSubject>> = {
  crier: { name: 'crier', title: 'crier', script: CRIER, isCrier: true },
  'raw-ws': { name: 'raw-ws', title: 'raw ws', script: 'servers/raw-ws.js', isCrier: false },
};

export const scenario = defineScenario({
  name: 'storm',
  command: 'loadtest -- --scenario storm',
  question:
    'A crowd of clients arrives at a pod that a flood keeps busy: fresh clients, then the clients of a drained pod, which resume.',
  flags: {
    scenario: choice('this one', ['storm'] as const, 'storm'),
    sockets: whole('clients that arrive at once', 5000),
    drained: whole('clients of a drained pod, which resume with a cursor; 0: none', 4000, 0),
    steady: whole('clients that are connected before and receive the flood', 1000),
    auctions: whole('channels of the arriving clients', 500),
    missed: whole('events that a client of a drained pod has missed', 5),
    cpu: whole('percent of its core that the flood takes of the first server; the others get the same flood', 90),
    servers: choices('servers', ['crier', 'raw-ws'] as const),
    base: base('measured in the same run'),
  },
  out: 'scenario-storm',
  packages: ['ws', 'graphql'],
  notes: `Exits with 1 if crier (not its base) misses a bound: all subscribed within ${MAX_SECONDS} s, no pause of a steady client beyond ${MAX_PAUSE_MS} ms, lag p99 at
most ${MAX_LAG_MS} ms, each client with each of its events once, no steady client closed.`,
  run: async ({ flags, scope, say, signal }) => {
    const { steady, auctions, missed, cpu: cpuPercent } = flags;
    const subjects: StormSubject[] = flags.servers.map((name) => SUBJECTS[name]);
    if (flags.base) subjects.push({ name: 'base', title: 'crier, base', script: flags.base, isCrier: true });
    const storms: [StormKind, number][] = [['fresh', flags.sockets]];
    if (flags.drained > 0) storms.push(['drained', flags.drained]);
    const figures: StormFigures[] = [];
    for (const [kind, sockets] of storms) {
      let rate: number | undefined;
      for (const subject of subjects) {
        signal.throwIfAborted();
        // `ws` has no history: its drained clients would be fresh ones.
        if (kind === 'drained' && !subject.isCrier) continue;
        const settings = { steady, auctions, missed, cpuPercent, sockets };
        figures.push(await stormTrial(subject, kind, settings, say, scope, rate));
        rate ??= figures.at(-1)!.floodEventsPerSecond;
      }
    }
    return {
      sections: [{ table: tableOf(figures) }],
      success: 'Every bound was kept.',
      faults: figures.filter(({ subject }) => subject === 'crier').flatMap(faultsOf),
      data: { figures },
    };
  },
});

/** One line per bound that a storm exceeded. */
function faultsOf({ kind, sockets, storm, pauseMs, lagP99Ms, steadyClosed, wrongEvents }: StormFigures): string[] {
  const wrong = Object.entries(wrongEvents).map(([events, count]) => `${count} with ${events}`);
  return [
    storm.subscribed < sockets && `${sockets - storm.subscribed} clients are not subscribed`,
    storm.allMs > MAX_SECONDS * 1000 &&
      `the last client was subscribed after ${seconds(storm.allMs)} s, beyond ${MAX_SECONDS} s`,
    pauseMs > MAX_PAUSE_MS && `a steady client received nothing for ${pauseMs.toFixed(0)} ms, beyond ${MAX_PAUSE_MS}`,
    lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(0)} ms, beyond ${MAX_LAG_MS}`,
    steadyClosed > 0 && `${steadyClosed} steady clients were closed`,
    wrong.length > 0 && `clients without exactly their events: ${wrong.join(', ')}`,
  ]
    .filter((fault) => fault !== false)
    .map((fault) => `${kind}: ${fault}`);
}

function tableOf(all: readonly StormFigures[]): string[][] {
  const row = (name: string, value: (figures: StormFigures) => string) => [name, ...all.map(value)];
  const pair = (name: string, before: 'pauseBeforeMs' | 'cpuBeforePercent', during: 'pauseMs' | 'cpuPercent') =>
    row(name, (figures) => `${figures[before].toFixed(0)} / ${figures[during].toFixed(0)}`);
  return [
    row('figure', ({ title, kind }) => `${title}, ${kind}`),
    row('clients that arrive', ({ sockets }) => String(sockets)),
    row('half of them subscribed after, s', ({ storm }) => seconds(storm.halfMs)),
    row('all subscribed after, s', ({ storm, sockets }) =>
      storm.subscribed < sockets ? `${sockets - storm.subscribed} never` : seconds(storm.allMs),
    ),
    pair('longest pause of a steady client, before / during, ms', 'pauseBeforeMs', 'pauseMs'),
    row('event loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    row(
      'attempts that failed',
      ({ storm }) =>
        Object.entries(storm.closes)
          .map(([code, count]) => `${count} with ${code}`)
          .join(', ') || 'none',
    ),
    row('flood, events/s', ({ floodEventsPerSecond }) => floodEventsPerSecond.toFixed(0)),
    row('deliveries/s to steady clients during the storm', ({ deliveriesPerSecond }) => deliveriesPerSecond.toFixed(0)),
    pair('CPU of the pod before / during, %', 'cpuBeforePercent', 'cpuPercent'),
    row('CPU of the clients, %', ({ clientCpuPercent }) => clientCpuPercent.toFixed(0)),
    row("longest delay of the clients' own timer, ms", ({ clientLagMs }) => clientLagMs.toFixed(0)),
  ];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
