import { median, spreadsOf, sum } from '../runner/spread.ts';
import type { ClientReconciliation } from './client/client.ts';
import type { BacklogSample, PhaseName, StorySample } from './result.ts';

const PHASES: readonly PhaseName[] = ['bare', 'idle', 'pace', 'flood', 'drain'];

/** In bytes: the maximum of each phase. Plateau: the median of the phase's second half, after connecting and warming up. */
export function heapFigures(samples: readonly StorySample[]) {
  const of = (phase: PhaseName) => samples.filter((s) => s.phase === phase).map(({ heapUsedBytes }) => heapUsedBytes);
  const most = (phase: PhaseName) => Math.max(0, ...of(phase));
  const plateau = (phase: PhaseName) => median(of(phase).slice(of(phase).length >> 1));
  return {
    ...{ bareMax: most('bare'), idleMax: most('idle'), idlePlateau: plateau('idle') },
    ...{ floodMax: most('flood'), floodPlateau: plateau('flood') },
  };
}

/** Garbage collection in percent of these samples' CPU time. */
export function gcPercent(samples: readonly StorySample[]): number {
  const cpuMs = sum(samples.map((sample) => sample.cpuMs));
  return cpuMs === 0 ? 0 : (sum(samples.flatMap(({ gcMs }) => Object.values(gcMs))) / cpuMs) * 100;
}

/** The spread of each figure in each phase that has samples. `backlog`: set for an open-loop flood. */
export function phaseSpreads(all: readonly StorySample[]) {
  return PHASES.map((phase) => ({ phase, samples: all.filter((sample) => sample.phase === phase) }))
    .filter(({ samples }) => samples.length > 0)
    .map(({ phase, samples }) => {
      const backlogs = samples.flatMap(({ backlog }) => backlog ?? []);
      const figures = Object.keys(backlogs[0] ?? {}) as (keyof BacklogSample)[];
      return {
        ...{ phase, samples: samples.length },
        ...spreadsOf(samples, {
          heapUsedBytes: (sample) => sample.heapUsedBytes,
          residentBytes: (sample) => sample.residentBytes,
          externalBytes: (sample) => sample.externalBytes,
          lagMs: (sample) => sample.lagMs,
          /** Share of the sample's time. */
          cpuPercent: ({ cpuMs, durationMs }) => (cpuMs / durationMs) * 100,
          gcPercent: ({ gcMs, durationMs }) => (sum(Object.values(gcMs)) / durationMs) * 100,
        }),
        ...(backlogs.length > 0 && {
          backlog: spreadsOf(
            backlogs,
            Object.fromEntries(figures.map((name) => [name, (one: BacklogSample) => one[name]])) as Record<
              keyof BacklogSample,
              (backlog: BacklogSample) => number
            >,
          ),
        }),
      };
    });
}

interface FloodTotals {
  /** Copies given to the writers. */
  readonly written: number;
  /** Copies in the topic. */
  readonly produced: number;
  readonly counted: ClientReconciliation;
}

/** One line per fault, losses first. */
export function faultsOf({ written, produced, counted }: FloodTotals): string[] {
  const { expected, delivered, unequalSockets, example, wrongSizes, closed, outOfOrder } = counted;
  const kind = delivered < expected ? 'lost' : delivered > expected ? 'duplicated' : 'lost and duplicated';
  return [
    example !== undefined &&
      `${kind}: of ${produced} records × sockets = ${expected} deliveries ${delivered} arrived; ${unequalSockets} sockets differ, ` +
        `socket ${example.socket} received ${example.delivered}`,
    outOfOrder > 0 && `${outOfOrder} messages arrived after a later one of their partition`,
    written !== produced && `the writers wrote ${written} records, the topic has ${produced}`,
    wrongSizes > 0 && `${wrongSizes} messages differ in length from a result`,
    ...Object.entries(closed).map(([code, sockets]) => `${sockets} sockets were closed with ${code}`),
  ].filter((fault) => fault !== false);
}
