import type { AvalanchePlan, AvalancheResult } from './avalanche.ts';
import type { FleetReport } from './fleet.ts';
import type { IdleResult } from './idle.ts';
import { JITTER_EVENTS } from './jitter.ts';
import type { JitterResult } from './jitter.ts';
import { IDLE_HEADINGS, THEIR_AVALANCHE, THEIR_IDLE, THEIR_JITTER } from './theirs.ts';
import type { AvalancheFigures, JitterFigures } from './theirs.ts';

/** Longest time that a client may be away after a deploy. */
const MAX_AWAY_MS = 3000;

/** crier's figures, then those that AnyCable published. */
export function jitterTable(results: readonly JitterResult[]): string[][] {
  const row = (figures: JitterFigures, published: string, duplicates: string) => [
    figures.server,
    String(figures.clients),
    published,
    `${figures.deliveredPercent.toFixed(3)} %`,
    duplicates,
    ...[figures.p50Ms, figures.p95Ms, figures.p99Ms, figures.maxMs].map(duration),
  ];
  return [
    ['server', 'clients', 'published', 'delivered', 'duplicates', 'p50', 'p95', 'p99', 'max'],
    ...results.map((result) =>
      row(jitterFigures(result), `${result.report.events} of ${JITTER_EVENTS}`, String(result.report.duplicates)),
    ),
    ...THEIR_JITTER.map((theirs) => row(theirs, '', '')),
  ];
}

export function jitterFigures({ kind, delays, clients, report }: JitterResult): JitterFigures {
  const deliveredPercent = (report.delivered / report.expected) * 100;
  return { ...report, server: `crier, ${kind}, ${delays} delays`, clients, deliveredPercent };
}

export function avalancheTable(results: readonly AvalancheResult[]): string[][] {
  const row = (figures: AvalancheFigures, [allBack, away, pod, client, lost]: readonly string[]) => [
    figures.deploy,
    String(figures.clients),
    String(figures.disconnected),
    ...[figures.halfBackMs, figures.mostBackMs].map((ms) => (ms === undefined ? '' : duration(ms))),
    ...[allBack!, away!, pod!, client!],
    String(figures.neverBack),
    lost!,
  ];
  return [
    [
      'deploy',
      'clients',
      'disconnected',
      'half back',
      '95 % back',
      'all back',
      'longest away',
      'CPU of the new gateway',
      'CPU of the clients',
      'never back',
      'lost events',
    ],
    ...results.map((result) => {
      const { allBackMs, longestAwayMs, disconnected, expected, delivered } = result.report;
      const times = [allBackMs, longestAwayMs, result.podCpuMs, result.clientCpuMs];
      const cells = times.map((ms) => (disconnected > 0 ? duration(ms) : ''));
      return row(avalancheFigures(result), [...cells, String(expected - delivered)]);
    }),
    ...THEIR_AVALANCHE.map((theirs) => row(theirs, ['', '', '', '', ''])),
  ];
}

export function avalancheFigures(result: AvalancheResult): AvalancheFigures {
  const { disconnected, halfBackMs, mostBackMs, neverBack } = result.report;
  const times = disconnected > 0 ? { halfBackMs, mostBackMs } : { halfBackMs: undefined, mostBackMs: undefined };
  return { deploy: deployOf(result), clients: result.clients, disconnected, ...times, neverBack };
}

/** With the seconds of DRAIN_SPREAD_MS, the kind of the clients, and their delays unless they are those of @crier/client. */
export function deployOf({
  deployed,
  kind,
  delays,
  spreadMs,
}: AvalanchePlan & Pick<AvalancheResult, 'deployed'>): string {
  const clients = delays === 'stock' ? kind : `${kind}, ${delays} delays`;
  return deployed === 'worker' ? `crier, worker, ${clients}` : `crier, gateway, ${spreadMs / 1000} s, ${clients}`;
}

export function idleTable({ connections, bytesEach }: IdleResult): string[][] {
  const ours = ['crier, beyond its first clients', String(connections), (bytesEach / 1024).toFixed(1)];
  return [IDLE_HEADINGS, ours, ...THEIR_IDLE].map((row) => [...row]);
}

/** @param isDeploy true: clients must be back in time */
export function faultsOf(report: FleetReport, isDeploy = false): string[] {
  const { expected, delivered, duplicates, neverBack, longestAwayMs, faults } = report;
  const lines = Object.entries(faults).map(([fault, count]) => `${count} times: ${fault}`);
  if (delivered < expected) lines.push(`${expected - delivered} of ${expected} deliveries were lost`);
  if (duplicates > 0) lines.push(`${duplicates} duplicates`);
  if (neverBack > 0) lines.push(`${neverBack} clients never came back`);
  if (isDeploy && longestAwayMs > MAX_AWAY_MS) lines.push(`a client was away for ${duration(longestAwayMs)}`);
  return lines;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
