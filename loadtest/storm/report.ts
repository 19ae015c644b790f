import { barChart } from '../fanout/chart.ts';
import type { StormFigures } from './trial.ts';

const MAX_SECONDS = 10;
const MAX_PAUSE_MS = 250;
const MAX_LAG_MS = 50;

/** One line per bound that a storm exceeded. */
export function stormFaults(figures: StormFigures): string[] {
  const { kind, sockets, storm, pauseMs, lagP99Ms, steadyClosed, wrongEvents } = figures;
  const wrong = Object.entries(wrongEvents).map(([events, count]) => `${count} with ${events}`);
  return [
    storm.subscribed < sockets && `${sockets - storm.subscribed} clients are not subscribed`,
    storm.allMs > MAX_SECONDS * 1000 &&
      `the last client was subscribed after ${seconds(storm.allMs)}, beyond ${MAX_SECONDS} s`,
    pauseMs > MAX_PAUSE_MS && `a steady client received nothing for ${pauseMs.toFixed(0)} ms, beyond ${MAX_PAUSE_MS}`,
    lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(0)} ms, beyond ${MAX_LAG_MS}`,
    steadyClosed > 0 && `${steadyClosed} steady clients were closed`,
    wrong.length > 0 && `clients without exactly their events: ${wrong.join(', ')}`,
  ]
    .filter((fault) => fault !== false)
    .map((fault) => `${kind}: ${fault}`);
}

export function stormTable(all: readonly StormFigures[]): string[][] {
  const row = (name: string, value: (figures: StormFigures) => string) => [name, ...all.map(value)];
  return [
    row('figure', ({ title, kind }) => `${title}, ${kind}`),
    row('clients that arrive', ({ sockets }) => String(sockets)),
    row('half of them subscribed after, s', ({ storm }) => seconds(storm.halfMs)),
    row('all subscribed after, s', ({ storm, sockets }) =>
      storm.subscribed < sockets ? `${sockets - storm.subscribed} never` : seconds(storm.allMs),
    ),
    row(
      'longest pause of a steady client, before / during, ms',
      ({ pauseBeforeMs, pauseMs }) => `${pauseBeforeMs.toFixed(0)} / ${pauseMs.toFixed(0)}`,
    ),
    row('event loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    row('attempts that failed', ({ storm }) => codesOf(storm.closes)),
    row('flood, events/s', ({ floodEventsPerSecond }) => floodEventsPerSecond.toFixed(0)),
    row('deliveries/s to steady clients during the storm', ({ deliveriesPerSecond }) => deliveriesPerSecond.toFixed(0)),
    row(
      'CPU of the pod before / during, %',
      ({ cpuBeforePercent, cpuPercent }) => `${cpuBeforePercent.toFixed(0)} / ${cpuPercent.toFixed(0)}`,
    ),
    row('CPU of the clients, %', ({ clientCpuPercent }) => clientCpuPercent.toFixed(0)),
    row("longest delay of the clients' own timer, ms", ({ clientLagMs }) => clientLagMs.toFixed(0)),
  ];
}

export function stormChart(all: readonly StormFigures[]): string {
  const panel = (title: string, value: (figures: StormFigures) => number, unit: string, digits: number) => ({
    title,
    bars: all.map((figures) => ({
      label: `${figures.title}, ${figures.kind}`,
      value: value(figures),
      text: `${value(figures).toFixed(digits)} ${unit}`,
      isOurs: figures.subject === 'crier',
    })),
  });
  return barChart(
    'A crowd arrives at a busy pod',
    'A flood takes the named share of the pod before the crowd arrives; client, publisher and Redis share the other core.',
    [
      panel('All subscribed after', ({ storm }) => storm.allMs / 1000, 's', 1),
      panel('Longest pause of the other clients', ({ pauseMs }) => pauseMs, 'ms', 0),
      panel('Event loop lag, p99', ({ lagP99Ms }) => lagP99Ms, 'ms', 1),
    ],
  );
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function codesOf(closes: Readonly<Record<string, number>>): string {
  return (
    Object.entries(closes)
      .map(([code, count]) => `${count} with ${code}`)
      .join(', ') || 'none'
  );
}
