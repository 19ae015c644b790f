import type { LatencySummary } from '../scenarios/latency.ts';
import type { Cells } from '../table.ts';
import type { DrainOutcome } from './drain-bounds.ts';

/** A column for each drain. */
export function drainTable(outcomes: readonly DrainOutcome[]): Cells[] {
  const row = (what: string, figure: (outcome: DrainOutcome) => string): Cells => [what, ...outcomes.map(figure)];
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  return [
    row('the reader of the logs', ({ logReader }) => logReader),
    row('not ready after, s', ({ unreadyMs }) => seconds(unreadyMs)),
    row('first close after, s', ({ firstCloseMs }) => seconds(firstCloseMs)),
    row('pod ended after, s', ({ endedMs }) => seconds(endedMs)),
    row('pod ended with', ({ ending }) => String(ending)),
    row('closes by code', ({ codes }) => codesOf(codes)),
    row('closes a second, least to most', ({ flatness: { perSecond } }) => rangeOf(perSecond)),
    row('largest deviation from even, %', ({ flatness }) => flatness.deviationPercent.toFixed(1)),
    row('attempts that failed', ({ fleet }) => codesOf({ ...fleet.failedAttempts, ...fleet.resuming?.failedAttempts })),
    row('stock: close to subscribed, p50 / p99 / max, s', ({ fleet }) => returnOf(fleet.reconnects)),
    row('stock: events missed in between, of all', ({ fleet }) => `${fleet.missed} of ${fleet.expected}`),
    row('stock: lost within a connection', ({ fleet }) => String(fleet.lost)),
    row('@crier/client: close to subscribed, s', ({ fleet }) =>
      fleet.resuming ? returnOf(fleet.resuming.reconnects) : '',
    ),
    row('@crier/client: lost, gaps, of all', ({ fleet: { resuming } }) =>
      resuming ? `${resuming.lost + resuming.missed}, ${resuming.gaps} of ${resuming.expected}` : '',
    ),
    row('other pod: loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    row('other pod: CPU, %', ({ otherCpuPercent }) => otherCpuPercent.toFixed(0)),
    row('drained pod: CPU, %', ({ drainedCpuPercent }) => drainedCpuPercent.toFixed(0)),
    row('waiting for a core, other pod; clients, %', ({ waitPercent, fleet }) =>
      [waitPercent.toFixed(0), fleet.waitPercent.toFixed(0)].join('; '),
    ),
    row('clients: CPU, %; loop lag p99, max, ms', ({ fleet }) =>
      [fleet.cpuPercent, fleet.lagP99Ms, fleet.lagMaxMs].map((figure) => figure.toFixed(0)).join('; '),
    ),
    row('delivery p50 / p99 / max, s', ({ fleet }) => returnOf(fleet.latency)),
  ];
}

function returnOf({ p50Ms, p99Ms, maxMs }: LatencySummary): string {
  return [p50Ms, p99Ms, maxMs].map((ms) => (ms / 1000).toFixed(2)).join(' / ');
}

function rangeOf(counts: readonly number[]): string {
  return `${Math.min(...counts)} to ${Math.max(...counts)}`;
}

function codesOf(codes: Readonly<Record<string, number>>): string {
  const words = Object.entries(codes).map(([code, count]) => `${count} × ${code}`);
  return words.join(', ') || 'none';
}
