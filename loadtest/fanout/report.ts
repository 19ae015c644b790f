import type { Section } from '../runner/report.ts';
import type { Spread } from '../runner/spread.ts';
import type { Cells } from '../runner/table.ts';
import { baseName, titleOf } from './contenders.ts';
import { memoryRows, memoryTable } from './memory.ts';
import { stageTable } from './server-profile.ts';
import type { ServerProfile } from './server-profile.ts';
import { stalledRows, stalledTable } from './stalled.ts';
import { faultsOf, isLike, summarize } from './summary.ts';
import type { Row } from './summary.ts';
import { loadText } from './trial.ts';
import type { Sample } from './trial.ts';

/** What the JSON file has beside conditions and faults. `stalled`, `memory`, `profiles`: empty without their flags. */
export type Results = ReturnType<typeof fanoutReport>['data'];

export function fanoutReport(
  rounds: readonly (readonly Sample[])[],
  profiles: readonly ServerProfile[],
  maxQueueBytes: number,
) {
  const rows = summarize(rounds);
  const [stalled, memory] = [stalledRows(rounds, maxQueueBytes), memoryRows(rounds)];
  const cpuUs = (profile: ServerProfile) =>
    rows.find((row) => isLike(row, { ...profile, stalled: 0 }))?.serverCpuUs.median;
  const sections: Section[] = [
    { table: fanoutTable(rows) },
    {
      title: 'Against the base',
      intro:
        'The base (the build of another checkout, the same server on one Redis server, or the server that fanout/contenders.ts names) in the same rounds: medians of the rounds’ ratios.',
      table: baseTable(rows),
    },
    {
      title: 'Sockets that do not read',
      intro:
        'They stop reading at the start of the window, which lasts until the server has closed them all. p99 with and without them: medians of the rounds, and of their ratios. RSS growth: highest value of the window less that at its start, in the round with the most. At most: MAX_QUEUE_BYTES per stalled socket, plus a tenth.',
      table: stalledTable(stalled),
    },
    {
      title: 'Memory',
      intro: 'One reading a second; medians of the rounds. External: buffers outside V8’s heap.',
      table: memoryTable(memory),
    },
    {
      title: 'Where the time goes',
      intro:
        'One more window of each server, with V8’s profiler. Shares of the main thread’s busy time; µs/delivery: the same shares of a delivery’s CPU time in the rounds above.',
      table: stageTable(profiles, cpuUs),
    },
  ];
  return {
    intro: 'Medians of the rounds; each ratio is the median of the rounds’ own ratios. K: events in flight.',
    sections: sections.filter(({ table }) => table.length > 1),
    success: 'Every socket received every message published for it.',
    faults: rounds.flat().flatMap(faultsOf),
    data: { rows, stalled, memory, profiles },
  };
}

/** One line per server, number of sockets and K. */
function fanoutTable(rows: readonly Row[]): Cells[] {
  const head = ['server', 'sockets', 'K', 'deliveries/s', '× raw ws', '× graphql-ws', 'CPU µs/delivery', '× raw ws'];
  return [
    [...head, 'in the kernel', 'p50 ms', '× raw ws', 'p99 ms', 'lag p99 ms', 'RSS MB', 'client CPU'],
    ...rows.map((row) => {
      const { 'raw-ws': raw, 'graphql-ws': graphqlWs } = row.ratios;
      return [
        `${titleOf(row.contender)}${row.isForAll ? '' : ', an auction each'}${row.stalled > 0 ? `, ${row.stalled} stalled` : ''}`,
        String(row.sockets),
        loadOf(row),
        Math.round(row.deliveriesPerSecond.median).toLocaleString('en'),
        times(raw?.deliveriesPerSecond),
        times(graphqlWs?.deliveriesPerSecond),
        row.serverCpuUs.median.toFixed(1),
        times(raw?.serverCpuUs),
        row.serverKernelUs.median.toFixed(1),
        row.p50Ms.median.toFixed(1),
        times(raw?.p50Ms),
        row.p99Ms.median.toFixed(1),
        row.lagP99Ms.median.toFixed(1),
        row.residentMb.median.toFixed(0),
        `${row.clientCpuPercent.median.toFixed(0)} %`,
      ];
    }),
  ];
}

/** One line per row with a base, comparing the two; only the head without any. */
export function baseTable(rows: readonly Row[]): Cells[] {
  const lines = rows.flatMap((row) => {
    const base = row.ratios[baseName(row.contender)];
    if (!base) return [];
    const figures = [base.deliveriesPerSecond, base.serverCpuUs, base.p50Ms, base.messageBytes].map(times);
    return [[titleOf(row.contender), String(row.sockets), loadOf(row), ...figures]];
  });
  return [['against its base', 'sockets', 'K', 'deliveries/s', 'CPU/delivery', 'p50', 'bytes'], ...lines];
}

/** The load, in the column `K`. */
function loadOf(row: Row): string {
  return row.rate === undefined ? String(row.outstanding) : loadText(row);
}

function times(ratio: Spread | undefined): string {
  return ratio === undefined ? '' : `${ratio.median.toFixed(2)} ×`;
}
