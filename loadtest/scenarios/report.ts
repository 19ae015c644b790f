import { conditionsList } from '../fanout/conditions.ts';
import type { Conditions } from '../fanout/conditions.ts';
import type { FleetUsage } from './clients/fleet-calls.ts';
import type { LatencySummary } from './latency.ts';
import type { ScenarioResult } from './result.ts';

type Row = readonly [what: string, figure: string];

/** The rows of the report, in order. */
export function rowsOf({ fleet, pods, deploy, ...result }: ScenarioResult): Row[] {
  const whole = (count: number) => count.toLocaleString('en');
  const share = fleet.expected === 0 ? 0 : (fleet.delivered / fleet.expected) * 100;
  const rows: Row[] = [
    ['delivered / expected', `${whole(fleet.delivered)} / ${whole(fleet.expected)} (${share.toFixed(3)} %)`],
    ['lost within a connection', whole(fleet.lost)],
    ['missed between connections', whole(fleet.missed)],
    ['duplicates', whole(fleet.duplicates)],
    ['reordered', whole(fleet.reordered)],
    ['corrupt, unrequested', `${whole(fleet.corrupt)}, ${whole(fleet.unrequested)}`],
    ['subscriptions with everything', `${whole(fleet.complete)} of ${whole(fleet.subscriptions)}`],
    ['latency p50 / p99 / p99.9 / max', msOf(fleet.latency)],
    ['of that until Kafka has it', msOf(result.acknowledged)],
    ['all clients connected after', `${whole(Math.round(result.connectMs))} ms`],
  ];
  if (fleet.handshakes.count > 0) rows.push([`${whole(fleet.handshakes.count)} handshakes`, msOf(fleet.handshakes)]);
  if (fleet.reconnects.count > 0) rows.push([`${whole(fleet.reconnects.count)} reconnects`, msOf(fleet.reconnects)]);
  rows.push(['closed by the server', codesOf(fleet.closes)]);
  if (Object.keys(fleet.failedAttempts).length > 0) {
    rows.push(['attempts to connect that failed', codesOf(fleet.failedAttempts)]);
  }
  if (result.settings.slow > 0) {
    const closed = pods.reduce((sum, { slowConsumers }) => sum + slowConsumers, 0);
    rows.push(['slow clients closed with 1013', `${closed} times, of ${result.settings.slow} clients`]);
    rows.push(['what the slow clients saw', codesOf(fleet.slowCloses)]);
  }
  if (deploy) {
    rows.push(['new pod ready after', `${whole(Math.round(deploy.replacementMs))} ms`]);
    rows.push(['old pod gone after', `${whole(Math.round(deploy.drainMs))} ms, ended with ${deploy.ending}`]);
  }
  rows.push(['records', `${whole(result.records)}, ${result.recordMegabytes.toFixed(1)} MB`]);
  for (const pod of pods) rows.push([pod.name, `${usageOf(pod)}, RSS ${pod.residentMb.toFixed(0)} MB`]);
  rows.push(['client', usageOf(fleet)]);
  return rows;
}

/** The report for a terminal. */
export function textReport(result: ScenarioResult): string {
  const rows = rowsOf(result);
  const width = Math.max(...rows.map(([what]) => what.length));
  const notes = [
    ...result.warnings.map((warning) => `WARNING: ${warning}`),
    ...result.faults.map((fault) => `FAULT: ${fault}`),
  ];
  const lines = [...rows.map(([what, figure]) => `${what.padEnd(width)}  ${figure}`), ...notes];
  return `${lines.join('\n')}\n`;
}

export function markdownReport(question: string, result: ScenarioResult, conditions: Conditions): string {
  const rows = rowsOf(result).map(([what, figure]) => `| ${what} | ${figure} |`);
  const verdict = result.faults.length === 0 ? ['No fault.'] : result.faults.map((fault) => `Fault: ${fault}`);
  const notes = [...verdict, ...result.warnings.map((warning) => `Warning: ${warning}`)];
  const facts = { ...result.settings, ...conditions };
  return `# Results: scenario ${result.scenario}

${question}

| | |
| --- | --- |
${rows.join('\n')}

${notes.join('\n\n')}

${conditionsList(facts)}`;
}

function msOf({ p50Ms, p99Ms, p999Ms, maxMs }: LatencySummary): string {
  return `${[p50Ms, p99Ms, p999Ms, maxMs].map((ms) => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0))).join(' / ')} ms`;
}

function usageOf({ cpuPercent, waitPercent, lagP99Ms }: Omit<FleetUsage, 'lagMaxMs'>): string {
  return `CPU ${cpuPercent.toFixed(0)} %, waiting for a core ${waitPercent.toFixed(0)} %, lag p99 ${lagP99Ms.toFixed(0)} ms`;
}

function codesOf(closes: Readonly<Record<string, number>>): string {
  const words = Object.entries(closes).map(([code, count]) => `${count} with ${code}`);
  return words.join(', ') || 'none';
}
