import lodash from 'lodash';
import { median, sum } from '../runner/spread.ts';
import type { Cells } from '../runner/table.ts';
import type { HeapReading } from '../servers/heap-gauge.ts';
import { titleOf } from './contenders.ts';
import { loadText } from './trial.ts';
import type { Sample } from './trial.ts';

const MB = 2 ** 20;
const resident = ({ residentBytes }: HeapReading) => residentBytes / MB;
const external = ({ externalBytes }: HeapReading) => externalBytes / MB;

/** Figures of a window, from one reading a second. `collectionMs`: time of all collections in a second. */
const FIGURES = {
  residentStartMb: (all: readonly HeapReading[]) => resident(all[0]!),
  residentEndMb: (all: readonly HeapReading[]) => resident(all.at(-1)!),
  residentPeakMb: (all: readonly HeapReading[]) => Math.max(...all.map(resident)),
  externalLeastMb: (all: readonly HeapReading[]) => Math.min(...all.map(external)),
  externalPeakMb: (all: readonly HeapReading[]) => Math.max(...all.map(external)),
  scavenges: (all: readonly HeapReading[]) => sum(all.map(({ gcCount }) => gcCount.scavenge)),
  majorCollections: (all: readonly HeapReading[]) => sum(all.map(({ gcCount }) => gcCount.markSweep)),
  collectionMs: (all: readonly HeapReading[]) => sum(all.flatMap(({ gcMs }) => Object.values(gcMs))) / all.length,
};

/** A server's memory in the windows of one load: medians of the rounds. */
export interface MemoryRow extends Readonly<Record<keyof typeof FIGURES, number>> {
  readonly contender: string;
  readonly sockets: number;
  readonly load: string;
}

/** One row for each server and rate; none for closed loops. */
export function memoryRows(rounds: readonly (readonly Sample[])[]): MemoryRow[] {
  const samples = rounds.flat().filter(({ memory }) => memory !== undefined && memory.length > 0);
  const groups = lodash.groupBy(samples, (sample) => `${sample.contender} ${sample.sockets} ${loadText(sample)}`);
  return Object.values(groups).map((group) => {
    const { contender, sockets } = group[0]!;
    const figures = Object.entries(FIGURES).map(([name, of]) => [name, median(group.map(({ memory }) => of(memory!)))]);
    return {
      contender,
      sockets,
      load: loadText(group[0]!),
      ...(Object.fromEntries(figures) as Record<keyof typeof FIGURES, number>),
    };
  });
}

export function memoryTable(rows: readonly MemoryRow[]): Cells[] {
  const head = ['memory', 'sockets', 'load', 'RSS MB at first', 'at the end', 'peak', 'external MB least', 'peak'];
  return [
    [...head, 'scavenges', 'major collections', 'collections ms/s'],
    ...rows.map((row) => [
      titleOf(row.contender),
      String(row.sockets),
      row.load,
      ...[row.residentStartMb, row.residentEndMb, row.residentPeakMb].map((mb) => mb.toFixed(0)),
      ...[row.externalLeastMb, row.externalPeakMb].map((mb) => mb.toFixed(1)),
      ...[row.scavenges, row.majorCollections].map(String),
      row.collectionMs.toFixed(1),
    ]),
  ];
}
