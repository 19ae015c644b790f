import { spreadsOf } from '../runner/spread.ts';
import type { Spread } from '../runner/spread.ts';
import { baseName } from './contenders.ts';
import { loadText } from './trial.ts';
import type { Conditions, Sample } from './trial.ts';

/** The figures are the spread of the windows. */
export type Row = ReturnType<typeof summarize>[number];

const REFERENCES = ['raw-ws', 'graphql-ws'];

/** Figures that are compared with those of a reference. */
const COMPARED = {
  messageBytes: ({ messageBytes }: Sample) => messageBytes,
  deliveriesPerSecond: ({ delivered, durationMs }: Sample) => (delivered / durationMs) * 1000,
  serverCpuUs: ({ delivered, serverCpuMs }: Sample) => (serverCpuMs / delivered) * 1000,
  p50Ms: ({ p50Ms }: Sample) => p50Ms,
};

/** One row per contender, number of sockets and K. */
export function summarize(rounds: readonly (readonly Sample[])[]) {
  return rounds[0]!
    .toSorted((a, b) => a.outstanding - b.outstanding || (a.rate ?? 0) - (b.rate ?? 0))
    .map((row) => {
      const { contender, sockets, isForAll, stalled, outstanding, rate, messageBytes } = row;
      const find = (wanted: (sample: Sample) => boolean) => rounds.map((samples) => samples.find(wanted)) as Sample[];
      const mine = find((sample) => isLike(sample, row));
      const references = [...REFERENCES, baseName(contender)]
        .map((name) => ({ name, theirs: find((sample) => isReference(sample, row, name)) }))
        .filter(({ theirs }) => theirs[0] !== undefined && theirs[0] !== mine[0]);
      const { deliveriesPerSecond, serverCpuUs } = COMPARED;
      return {
        ...{ contender, sockets, isForAll, stalled, outstanding, rate, messageBytes, windows: mine.length },
        ...spreadsOf(mine, {
          deliveriesPerSecond,
          serverCpuUs,
          /** The kernel's part of it. */
          serverKernelUs: ({ delivered, serverKernelMs }) => (serverKernelMs / delivered) * 1000,
          p50Ms: ({ p50Ms }) => p50Ms,
          p99Ms: ({ p99Ms }) => p99Ms,
          lagP99Ms: ({ lagP99Ms }) => lagP99Ms,
          residentMb: ({ residentBytes }) => residentBytes / 2 ** 20,
          /** Share of its core that the client used. Near 100 the client may be what is measured. */
          clientCpuPercent: ({ clientCpuMs, durationMs }) => (clientCpuMs / durationMs) * 100,
        }),
        /** To each measured reference in the same round. */
        ratios: Object.fromEntries(references.map(({ name, theirs }) => [name, ratiosTo(theirs, mine)])),
      };
    });
}

function ratiosTo(theirs: readonly Sample[], mine: readonly Sample[]): Record<keyof typeof COMPARED, Spread> {
  const ratios = Object.entries(COMPARED).map(([name, of]) => [
    name,
    (sample: Sample, round: number) => of(sample) / of(theirs[round]!),
  ]);
  return spreadsOf(mine, Object.fromEntries(ratios) as typeof COMPARED);
}

/** Whether a sample is of these conditions. @param name of the contender. Default: the one of the conditions */
export function isLike(sample: Conditions, conditions: Conditions, name = conditions.contender): boolean {
  const { sockets, isForAll, stalled, outstanding, rate } = conditions;
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
  const { contender, expected, delivered, sockets, stalled, wrongSizes, closed, unequalSockets } = sample;
  const { slowConsumers = stalled } = sample;
  return [
    unequalSockets > 0 && `expected ${expected} deliveries, got ${delivered}; ${unequalSockets} sockets differ`,
    wrongSizes > 0 && `${wrongSizes} messages of another length than a result has`,
    closed > 0 && `${closed} sockets were closed`,
    slowConsumers < stalled && `${slowConsumers} of ${stalled} sockets that did not read were closed with 1013`,
  ]
    .filter((fault) => fault !== false)
    .map((fault) => `${contender}, ${sockets} sockets, ${loadText(sample)}: ${fault}`);
}
