import { writeResult } from '../result-files.ts';
import { markdownTable } from '../table.ts';
import { barChart } from './chart.ts';
import type { Bar } from './chart.ts';
import { conditionsList } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { titleOf } from './contenders.ts';
import { memoryTable } from './memory.ts';
import type { MemoryRow } from './memory.ts';
import { baseTable, fanoutTable } from './report.ts';
import { stageTable } from './server-profile.ts';
import type { ServerProfile } from './server-profile.ts';
import { stalledTable } from './stalled.ts';
import type { StalledRow } from './stalled.ts';
import { cpuUsOf } from './summary.ts';
import type { Row } from './summary.ts';
import { loadText } from './trial.ts';

export interface Results {
  readonly conditions: Conditions;
  readonly rows: readonly Row[];
  readonly faults: readonly string[];
  /** Empty unless `--stalled` is set. */
  readonly stalled: readonly StalledRow[];
  /** Empty unless `--rate` is set. */
  readonly memory: readonly MemoryRow[];
  /** Empty unless `--flame-graph` is set. */
  readonly profiles: readonly ServerProfile[];
}

/** Writes `<name>.json`, `.md` and `.svg`, and returns their paths. */
export function writeResults(name: string, results: Results): Promise<string[]> {
  return writeResult(name, results, { md: markdown(name, results), svg: picture(results) });
}

function markdown(name: string, { conditions, rows, faults, stalled, memory, profiles }: Results): string {
  const verdict = faults.length === 0 ? 'Every socket received every message published for it.' : faults.join('\n\n');
  return `# Results: ${name}

Medians of the rounds; each ratio is the median of the rounds' own ratios. K: events in flight.

${markdownTable(fanoutTable(rows))}
${verdict}
${baseSection(rows)}${stalled.length === 0 ? '' : stalledSection(stalled)}${memory.length === 0 ? '' : memorySection(memory)}${profiles.length === 0 ? '' : profileSection(profiles, rows)}
## Conditions

${conditionsList(conditions)}
![The same as a picture](${name}.svg)
`;
}

function baseSection(rows: readonly Row[]): string {
  const table = baseTable(rows);
  if (table.length === 1) return '';
  return `
## Against the base

The base (the build of another checkout, the same server on one Redis server, or the server that fanout/contenders.ts names) in the same rounds: medians of the rounds' ratios.

${markdownTable(table)}`;
}

function stalledSection(stalled: readonly StalledRow[]): string {
  return `
## Sockets that do not read

They stop reading at the start of the window, which lasts until the server has closed them all. p99 with and without them: medians of the rounds, and of their ratios. RSS growth: highest value of the
window less that at its start, in the round with the most. At most: MAX_QUEUE_BYTES per stalled socket, plus a tenth.

${markdownTable(stalledTable(stalled))}`;
}

function memorySection(memory: readonly MemoryRow[]): string {
  return `
## Memory

One reading a second; medians of the rounds. External: buffers outside V8's heap.

${markdownTable(memoryTable(memory))}`;
}

function profileSection(profiles: readonly ServerProfile[], rows: readonly Row[]): string {
  return `
## Where the time goes

One more window of each server, with V8's profiler. Shares of the main thread's busy time; µs/delivery: the same shares of a delivery's CPU time in the rounds above.

${markdownTable(stageTable(profiles, (profile) => cpuUsOf(profile, rows)))}`;
}

/** Two panels per K: deliveries per second and CPU per delivery. */
function picture({ conditions, rows }: Results): string {
  const titleFor = (row: Row) => `${row.sockets} sockets, ${loadText(row)}`;
  const panels = [...new Set(rows.map(titleFor))].flatMap((title) => {
    const group = rows.filter((row) => titleFor(row) === title);
    return [
      {
        title: `${title}: deliveries per second`,
        bars: group.map((row) => {
          const { median } = row.deliveriesPerSecond;
          return bar(row, median, Math.round(median).toLocaleString('en'));
        }),
      },
      {
        title: `${title}: server CPU per delivery, lower is better`,
        bars: group.map((row) => bar(row, row.serverCpuUs.median, `${row.serverCpuUs.median.toFixed(1)} µs`)),
      },
    ];
  });
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, server on one core; ${conditions['date']}`;
  return barChart('One event, every socket: npm run bench:fanout', note, panels);
}

function bar({ contender, stalled }: Row, value: number, text: string): Bar {
  const label = `${titleOf(contender)}${stalled > 0 ? `, ${stalled} stalled` : ''}`;
  return { label, value, text, isOurs: contender.startsWith('crier') };
}
