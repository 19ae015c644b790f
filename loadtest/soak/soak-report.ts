import type { Values } from '../runner/flags.ts';
import type { Report } from '../runner/report.ts';
import { spreadsOf } from '../runner/spread.ts';
import type { flags } from '../soak.ts';
import type { ChurnReport } from './churning-clients.ts';

export type SoakPlan = Values<typeof flags>;

const MIB = 1024 * 1024;
/** Most that resident memory may grow after the first round. The allocators keep pages for the next connections. */
const MAX_GROWTH_BYTES = 16 * MIB;
/** Most that the heap may grow after the first round. A leak of 16 bytes for each of 262,144 connections exceeds it. */
const MAX_HEAP_GROWTH_BYTES = 4 * MIB;
const SETTLED = 'Without clients the gauges returned to 0, and memory to its value after the first quarter.';

export interface Sample {
  readonly minutes: number;
  readonly residentMb: number;
  readonly connections: number;
  readonly deliveries: number;
  readonly shed: number;
}

/** What the pod keeps without clients, after a collection of garbage. */
export interface KeptMemory {
  /** Without the young generation. */
  readonly residentBytes: number;
  /** Without the young generation. */
  readonly heapBytes: number;
}

export interface SoakOutcome {
  readonly samples: readonly Sample[];
  readonly report: ChurnReport;
  /** Before the first client. */
  readonly beforeClients: KeptMemory;
  /** After each round. */
  readonly kept: readonly KeptMemory[];
  /** As the pod counts. */
  readonly refused: number;
}

export function faultsOf({ percent, memory }: SoakPlan, { samples, report, kept, refused }: SoakOutcome): string[] {
  const residentMb = Math.max(...samples.map((sample) => sample.residentMb));
  const growth = (of: keyof KeptMemory) => kept.at(-1)![of] - kept[0]![of];
  return [
    residentMb > memory && `RSS of ${residentMb.toFixed(0)} MB, more than ${memory}`,
    percent > 100 && report.shed === 0 && 'nobody was refused',
    // A client that ended while its refusal was on the way has not counted it.
    percent > 100 && refused < report.shed && `${report.shed} refusals seen, ${refused} counted by the pod`,
    report.messages === 0 && 'nothing was delivered',
    report.failed > 0 && `${report.failed} connections without an acknowledgement`,
    ...report.faults,
    growth('residentBytes') > MAX_GROWTH_BYTES && `RSS without clients grew: ${inMb(kept, 'residentBytes')} MB`,
    growth('heapBytes') > MAX_HEAP_GROWTH_BYTES && `the heap without clients grew: ${inMb(kept, 'heapBytes')} MB`,
  ].filter((fault) => fault !== false);
}

/** The figures of the rounds, in MB. */
export function inMb(kept: readonly KeptMemory[], of: keyof KeptMemory): string {
  return kept.map((memory) => (memory[of] / MIB).toFixed(1)).join(', ');
}

function inPair(memory: KeptMemory): string {
  return `${inMb([memory], 'residentBytes')} / ${inMb([memory], 'heapBytes')}`;
}

export function soakReport(plan: SoakPlan, outcome: SoakOutcome, unsettled: readonly string[]): Report {
  const { samples, report, beforeClients, kept, refused } = outcome;
  const most = (read: (sample: Sample) => number) => Math.max(...samples.map(read));
  const figures = {
    residentMb: (sample: Sample) => sample.residentMb,
    connections: (sample: Sample) => sample.connections,
  };
  return {
    sections: [
      {
        table: [
          ['figure', 'value'],
          ['connections opened', String(report.opened)],
          ['shed with 1013, as clients see / as the pod counts', `${report.shed} / ${refused}`],
          ['closed by the pod otherwise', JSON.stringify(report.closed).replace(/[{}"]/g, '') || 'none'],
          ['most connections at once', String(most(({ connections }) => connections))],
          ['messages received', String(report.messages)],
          ['highest RSS, MB', most(({ residentMb }) => residentMb).toFixed(0)],
          ['RSS / heap in use before the first client, MB', inPair(beforeClients)],
          ['RSS without clients, after each quarter, MB', inMb(kept, 'residentBytes')],
          ['heap in use without clients, after each quarter, MB', inMb(kept, 'heapBytes')],
        ],
      },
    ],
    success: SETTLED,
    faults: [...faultsOf(plan, outcome), ...unsettled],
    data: { samples: { count: samples.length, ...spreadsOf(samples, figures) }, report, beforeClients, kept, refused },
  };
}
