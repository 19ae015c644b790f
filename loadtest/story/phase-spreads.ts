import { spreadsOf } from '../spread.ts';
import type { Spread } from '../spread.ts';
import type { BacklogSample, PhaseName, StorySample } from './result.ts';

const PHASES: readonly PhaseName[] = ['bare', 'idle', 'pace', 'flood', 'drain'];

/** The samples of one phase. */
export interface PhaseSpread {
  readonly phase: PhaseName;
  readonly samples: number;
  readonly heapUsedBytes: Spread;
  readonly residentBytes: Spread;
  readonly externalBytes: Spread;
  readonly lagMs: Spread;
  /** Share of the sample's time. */
  readonly cpuPercent: Spread;
  readonly gcPercent: Spread;
  /** Set for an open-loop flood. */
  readonly backlog?: Readonly<Record<keyof BacklogSample, Spread>>;
}

/** One for each phase that has samples. */
export function phaseSpreads(samples: readonly StorySample[]): PhaseSpread[] {
  return PHASES.map((phase) =>
    spreadOfPhase(
      phase,
      samples.filter((sample) => sample.phase === phase),
    ),
  ).filter((spread) => spread.samples > 0);
}

function spreadOfPhase(phase: PhaseName, samples: readonly StorySample[]): PhaseSpread {
  const backlogs = samples.flatMap(({ backlog }) => backlog ?? []);
  return {
    phase,
    samples: samples.length,
    ...spreadsOf(samples, {
      heapUsedBytes: (sample) => sample.heapUsedBytes,
      residentBytes: (sample) => sample.residentBytes,
      externalBytes: (sample) => sample.externalBytes,
      lagMs: (sample) => sample.lagMs,
      cpuPercent: ({ cpuMs, durationMs }) => (cpuMs / durationMs) * 100,
      gcPercent: ({ gcMs, durationMs }) => (Object.values(gcMs).reduce((a, b) => a + b, 0) / durationMs) * 100,
    }),
    ...(backlogs.length > 0 && {
      backlog: spreadsOf(backlogs, {
        kafkaRecords: (backlog) => backlog.kafkaRecords,
        redisOutputBytes: (backlog) => backlog.redisOutputBytes,
        queueBytes: (backlog) => backlog.queueBytes,
        residentBytes: (backlog) => backlog.residentBytes,
        gaps: (backlog) => backlog.gaps,
        ageP50Ms: (backlog) => backlog.ageP50Ms,
        ageP99Ms: (backlog) => backlog.ageP99Ms,
      }),
    }),
  };
}
