import { median } from '../median.ts';
import type { HeapReading } from '../servers/heap-gauge.ts';
import type { Cells } from '../table.ts';
import { titleOf } from './contenders.ts';
import { loadText } from './trial.ts';
import type { Sample } from './trial.ts';

/** A server's memory in the windows of one load: medians of the rounds, in MB. */
export interface MemoryRow {
  readonly contender: string;
  readonly sockets: number;
  readonly load: string;
  readonly residentStartMb: number;
  readonly residentEndMb: number;
  readonly residentPeakMb: number;
  readonly externalLeastMb: number;
  readonly externalPeakMb: number;
  readonly scavenges: number;
  readonly majorCollections: number;
  /** Time of all collections in a second. */
  readonly collectionMs: number;
}

/** One row for each server and rate; none for closed loops. */
export function memoryRows(rounds: readonly (readonly Sample[])[]): MemoryRow[] {
  const samples = rounds.flat().filter(({ memory }) => memory !== undefined && memory.length > 0);
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = `${sample.contender} ${sample.sockets} ${loadText(sample)}`;
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups.values()].map((group) => {
    const figure = (of: (readings: readonly HeapReading[]) => number) => median(group.map(({ memory }) => of(memory!)));
    const mb = (of: (readings: readonly HeapReading[]) => number) => figure(of) / 2 ** 20;
    const [first] = group as [Sample];
    return {
      contender: first.contender,
      sockets: first.sockets,
      load: loadText(first),
      residentStartMb: mb((readings) => readings[0]!.residentBytes),
      residentEndMb: mb((readings) => readings.at(-1)!.residentBytes),
      residentPeakMb: mb((readings) => Math.max(...readings.map(({ residentBytes }) => residentBytes))),
      externalLeastMb: mb((readings) => Math.min(...readings.map(({ externalBytes }) => externalBytes))),
      externalPeakMb: mb((readings) => Math.max(...readings.map(({ externalBytes }) => externalBytes))),
      scavenges: figure((readings) => sum(readings, ({ gcCount }) => gcCount.scavenge)),
      majorCollections: figure((readings) => sum(readings, ({ gcCount }) => gcCount.markSweep)),
      collectionMs: figure((readings) => sum(readings, collectionMs) / readings.length),
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
      row.residentStartMb.toFixed(0),
      row.residentEndMb.toFixed(0),
      row.residentPeakMb.toFixed(0),
      row.externalLeastMb.toFixed(1),
      row.externalPeakMb.toFixed(1),
      String(row.scavenges),
      String(row.majorCollections),
      row.collectionMs.toFixed(1),
    ]),
  ];
}

function collectionMs({ gcMs }: HeapReading): number {
  return Object.values(gcMs).reduce((total, ms) => total + ms, 0);
}

function sum(readings: readonly HeapReading[], of: (reading: HeapReading) => number): number {
  return readings.reduce((total, reading) => total + of(reading), 0);
}
