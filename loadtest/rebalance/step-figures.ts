/** The name of the worker that owns a partition, by partition. */
export type Owners = ReadonlyMap<number, string>;

/** A worker leaves the group, or joins it. */
export type Step = 'leave' | 'join';

export interface StepFigures {
  readonly step: Step;
  /** Partitions whose owner changed. */
  readonly moved: number;
  /** Those of them that the restarted worker neither had before nor has after. */
  readonly foreign: number;
  /** Partitions that kept their owner. */
  readonly kept: number;
  /** Longest silence of a partition that kept its owner, less that before the step, in ms; 0 if there is none. */
  readonly keptMs: number;
  /** The same of the partitions that moved. */
  readonly movedMs: number;
  /** Longest silence of any partition before the step, in ms. */
  readonly quietMs: number;
}

export interface StepObservation {
  readonly step: Step;
  /** Name of the worker that is restarted. */
  readonly restarted: string;
  readonly before: Owners;
  readonly after: Owners;
  /** Longest silence of each partition before the step, in ms. */
  readonly quiet: readonly number[];
  /** Longest silence of each partition during the step, in ms. */
  readonly during: readonly number[];
}

export function stepFigures({ step, restarted, before, after, quiet, during }: StepObservation): StepFigures {
  const partitions = [...before.keys()];
  const moved = partitions.filter((partition) => before.get(partition) !== after.get(partition));
  const kept = partitions.filter((partition) => before.get(partition) === after.get(partition));
  const excess = (partition: number) => during[partition]! - quiet[partition]!;
  return {
    step,
    moved: moved.length,
    foreign: moved.filter((partition) => before.get(partition) !== restarted && after.get(partition) !== restarted)
      .length,
    kept: kept.length,
    keptMs: Math.max(0, ...kept.map(excess)),
    movedMs: Math.max(0, ...moved.map(excess)),
    quietMs: Math.max(...quiet),
  };
}

/** The longest time between two consecutive times of which the later one lies within `from` and `to`; 0 if there are none. */
export function longestSilence(times: readonly number[], from: number, to: number): number {
  let longest = 0;
  for (let i = 1; i < times.length; i++) {
    if (times[i]! >= from && times[i]! <= to) longest = Math.max(longest, times[i]! - times[i - 1]!);
  }
  return longest;
}
