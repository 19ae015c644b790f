import { spreadsOf } from '../spread.ts';
import type { Spread } from '../spread.ts';
import { baseName } from './contenders.ts';
import { loadText } from './trial.ts';
import type { Sample } from './trial.ts';

export interface Row {
  readonly contender: string;
  readonly sockets: number;
  readonly isForAll: boolean;
  readonly stalled: number;
  readonly outstanding: number;
  readonly rate: number | undefined;
  readonly messageBytes: number;
  /** Windows measured. The figures are their spread. */
  readonly windows: number;
  readonly deliveriesPerSecond: Spread;
  readonly serverCpuUs: Spread;
  /** The kernel's part of it. */
  readonly serverKernelUs: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly lagP99Ms: Spread;
  readonly residentMb: Spread;
  /** Share of its core that the client used. Near 100 the client may be what is measured. */
  readonly clientCpuPercent: Spread;
  /** Ratios to each measured reference in the same round. */
  readonly ratios: Readonly<Record<string, Ratios>>;
}

export interface Ratios {
  readonly messageBytes: Spread;
  readonly deliveriesPerSecond: Spread;
  readonly serverCpuUs: Spread;
  readonly p50Ms: Spread;
}

const REFERENCES = ['raw-ws', 'graphql-ws'];

/** One row per contender, number of sockets and K. */
export function summarize(rounds: readonly (readonly Sample[])[]): Row[] {
  return rounds[0]!
    .toSorted((a, b) => a.outstanding - b.outstanding || (a.rate ?? 0) - (b.rate ?? 0))
    .map((row) => {
      const { contender, sockets, isForAll, stalled, outstanding, rate, messageBytes } = row;
      const find = (wanted: (sample: Sample) => boolean) => rounds.map((samples) => samples.find(wanted)) as Sample[];
      const mine = find((sample) => isLike(sample, row, contender));
      const referencesOf = (name: string) => find((sample) => isReference(sample, row, name));
      const references = [...REFERENCES, baseName(contender)].filter((name) => {
        const reference = referencesOf(name)[0];
        return reference !== undefined && reference !== mine[0];
      });
      const ratiosTo = (theirs: readonly Sample[]): Ratios => {
        const ratio = (of: (sample: Sample) => number) => (sample: Sample, round: number) =>
          of(sample) / of(theirs[round]!);
        return spreadsOf(mine, {
          messageBytes: ratio((sample) => sample.messageBytes),
          deliveriesPerSecond: ratio(deliveriesPerSecond),
          serverCpuUs: ratio(serverCpuUs),
          p50Ms: ratio(({ p50Ms }) => p50Ms),
        });
      };
      return {
        contender,
        sockets,
        isForAll,
        stalled,
        outstanding,
        rate,
        messageBytes,
        windows: mine.length,
        ...spreadsOf(mine, {
          deliveriesPerSecond,
          serverCpuUs,
          serverKernelUs: ({ delivered, serverKernelMs }) => (serverKernelMs / delivered) * 1000,
          p50Ms: ({ p50Ms }) => p50Ms,
          p99Ms: ({ p99Ms }) => p99Ms,
          lagP99Ms: ({ lagP99Ms }) => lagP99Ms,
          residentMb: ({ residentBytes }) => residentBytes / 2 ** 20,
          clientCpuPercent: ({ clientCpuMs, durationMs }) => (clientCpuMs / durationMs) * 100,
        }),
        ratios: Object.fromEntries(references.map((name) => [name, ratiosTo(referencesOf(name))])),
      };
    });
}

/** Median CPU time per delivery of a server whose sockets all read; undefined: not measured. */
export function cpuUsOf(
  {
    contender,
    sockets,
    isForAll,
    outstanding,
    rate,
  }: Pick<Row, 'contender' | 'sockets' | 'isForAll' | 'outstanding' | 'rate'>,
  rows: readonly Row[],
): number | undefined {
  const row = rows.find(
    (row) =>
      row.contender === contender &&
      row.sockets === sockets &&
      row.isForAll === isForAll &&
      row.outstanding === outstanding &&
      row.rate === rate &&
      row.stalled === 0,
  );
  return row?.serverCpuUs.median;
}

/** Whether a sample is of server `name` under the conditions of another sample. */
export function isLike(
  sample: Sample,
  { sockets, isForAll, stalled, outstanding, rate }: Sample,
  name: string,
): boolean {
  return (
    sample.contender === name &&
    sample.sockets === sockets &&
    sample.isForAll === isForAll &&
    sample.stalled === stalled &&
    sample.outstanding === outstanding &&
    sample.rate === rate
  );
}

/** Events for one socket each are compared with raw ws's broadcast at K=1, its cost per delivery. */
function isReference(sample: Sample, row: Sample, name: string): boolean {
  if (row.isForAll || name !== 'raw-ws') return isLike(sample, row, name);
  return sample.contender === name && sample.sockets === row.sockets && sample.isForAll && sample.outstanding === 1;
}

/** One line per fault of a sample. */
export function faultsOf(sample: Sample): string[] {
  const { contender, expected, delivered, sockets, stalled, wrongSizes, closed } = sample;
  const where = `${contender}, ${sockets} sockets, ${loadText(sample)}`;
  const faults: string[] = [];
  if (sample.unequalSockets > 0) {
    faults.push(`${where}: expected ${expected} deliveries, got ${delivered}; ${sample.unequalSockets} sockets differ`);
  }
  if (wrongSizes > 0) faults.push(`${where}: ${wrongSizes} messages of another length than a result has`);
  if (closed > 0) faults.push(`${where}: ${closed} sockets were closed`);
  if (sample.slowConsumers !== undefined && sample.slowConsumers < stalled) {
    faults.push(`${where}: ${sample.slowConsumers} of ${stalled} sockets that did not read were closed with 1013`);
  }
  return faults;
}

function deliveriesPerSecond({ delivered, durationMs }: Sample): number {
  return (delivered / durationMs) * 1000;
}

function serverCpuUs({ delivered, serverCpuMs }: Sample): number {
  return (serverCpuMs / delivered) * 1000;
}
