import type { AvalancheResult } from './avalanche.ts';
import type { FleetReport } from './fleet.ts';
import type { IdleResult } from './idle.ts';
import { JITTER_EVENTS } from './jitter.ts';
import type { JitterResult } from './jitter.ts';
import {
  AVALANCHE_HEADINGS,
  IDLE_HEADINGS,
  JITTER_HEADINGS,
  THEIR_AVALANCHE,
  THEIR_IDLE,
  THEIR_JITTER,
} from './theirs.ts';

/** Longest time that a client may be away after a deploy. */
const MAX_AWAY_MS = 3000;

/** crier's figures, then those that AnyCable published. */
export function jitterTable(results: readonly JitterResult[]): string[][] {
  const rows = results.map(({ kind, delays, clients, report }) => [
    `crier, ${kind} clients, ${delays} delays`,
    String(clients),
    `${report.events} of ${JITTER_EVENTS}`,
    `${((report.delivered / report.expected) * 100).toFixed(3)} %`,
    String(report.duplicates),
    ...[report.p50Ms, report.p95Ms, report.p99Ms, report.maxMs].map(duration),
  ]);
  return [JITTER_HEADINGS, ...rows, ...THEIR_JITTER].map((row) => [...row]);
}

export function avalancheTable(results: readonly AvalancheResult[]): string[][] {
  const rows = results.map(({ deploy, clients, report, podCpuMs, clientCpuMs }) => {
    const isAway = report.disconnected > 0;
    return [
      deploy,
      String(clients),
      String(report.disconnected),
      ...[report.halfBackMs, report.mostBackMs, report.allBackMs].map((ms) => (isAway ? duration(ms) : '')),
      ...[report.longestAwayMs, podCpuMs, clientCpuMs].map((ms) => (isAway ? duration(ms) : '')),
      String(report.neverBack),
      String(report.expected - report.delivered),
    ];
  });
  return [AVALANCHE_HEADINGS, ...rows, ...THEIR_AVALANCHE].map((row) => [...row]);
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

function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
