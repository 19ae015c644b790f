import { median, sum, sumCounts } from '../runner/spread.ts';
import type { Cells } from '../runner/table.ts';
import { titleOf } from './contenders.ts';
import { isLike } from './summary.ts';
import type { Sample } from './trial.ts';

/** The cost of sockets that do not read, and how they ended. */
export type StalledRow = ReturnType<typeof stalledRows>[number];

const PROMISED_GROWTH = 1.1;
const PROMISED_P99 = 1.1;

export function stalledRows(rounds: readonly (readonly Sample[])[], maxQueueBytes: number) {
  return rounds[0]!
    .filter(({ stalled }) => stalled > 0)
    .toSorted((a, b) => a.outstanding - b.outstanding)
    .map((row) => {
      const { contender, sockets, outstanding, stalled } = row;
      const of = (like: Sample) => rounds.flatMap((samples) => samples.find((sample) => isLike(sample, like)) ?? []);
      const mine = of(row);
      const alone = of({ ...row, stalled: 0 });
      const hasAlone = alone.length === mine.length;
      return {
        ...{ contender, sockets, outstanding, stalled },
        /** Deliveries that the other sockets lost, in all rounds. */
        lost: sum(mine.map(({ expected, delivered }) => expected - delivered)),
        p99Ms: median(mine.map(({ p99Ms }) => p99Ms)),
        /** The same without stalled sockets; undefined: not measured. */
        p99AloneMs: hasAlone ? median(alone.map(({ p99Ms }) => p99Ms)) : undefined,
        /** Median of the rounds' ratios of the two. */
        p99Ratio: hasAlone ? median(mine.map(({ p99Ms }, round) => p99Ms / alone[round]!.p99Ms)) : undefined,
        /** Sockets that the server closed with 1013, in the round with the fewest; undefined without metrics. */
        closed: row.slowConsumers === undefined ? undefined : Math.min(...mine.map((s) => s.slowConsumers ?? 0)),
        /** Number of stalled sockets by the close code that the client received, over all rounds; 0: still open. */
        byCloseCode: sumCounts(mine.map(({ stalledByCloseCode }) => stalledByCloseCode)),
        /** Largest growth of RSS within a window, over the rounds. */
        growthBytes: Math.max(...mine.map(growth)),
        growthAloneBytes: hasAlone ? Math.max(...alone.map(growth)) : undefined,
        /** The promised limit: one full queue per stalled socket, plus a tenth. */
        maxGrowthBytes: stalled * maxQueueBytes * PROMISED_GROWTH,
      };
    });
}

/** One line per row, with whether crier's promises hold. */
export function stalledTable(rows: readonly StalledRow[]): Cells[] {
  const head = ['server', 'K', 'stalled', 'lost by the others', 'p99 ms', 'without stalled', '×', 'closed with 1013'];
  return [
    [...head, 'seen by the clients', 'RSS growth MiB', 'without stalled', 'at most', 'kept'],
    ...rows.map((row) => [
      titleOf(row.contender),
      String(row.outstanding),
      `${row.stalled} of ${row.sockets}`,
      String(row.lost),
      row.p99Ms.toFixed(1),
      row.p99AloneMs?.toFixed(1) ?? '',
      row.p99Ratio?.toFixed(2) ?? '',
      row.closed === undefined ? '' : String(row.closed),
      Object.entries(row.byCloseCode)
        .map(([code, count]) => `${count} × ${code === '0' ? 'still open' : code}`)
        .join(', '),
      ...[row.growthBytes, row.growthAloneBytes, row.maxGrowthBytes].map((bytes) =>
        bytes === undefined ? '' : (bytes / 2 ** 20).toFixed(1),
      ),
      brokenPromisesOf(row).join(', ') || 'all',
    ]),
  ];
}

function brokenPromisesOf({ stalled, lost, p99Ratio = 0, closed, growthBytes, maxGrowthBytes }: StalledRow): string[] {
  return [
    lost !== 0 && 'NOT: deliveries',
    p99Ratio > PROMISED_P99 && 'NOT: p99',
    closed !== stalled && 'NOT: 1013',
    growthBytes > maxGrowthBytes && 'NOT: memory',
  ].filter((text) => text !== false);
}

function growth({ peakResidentBytes, residentBeforeBytes }: Sample): number {
  return peakResidentBytes - residentBeforeBytes;
}
