import type { Contender } from './contenders.ts';
import { openTrial } from './trial.ts';
import type { Load, Sample, Trial, TrialOptions } from './trial.ts';

export interface Plan extends Pick<TrialOptions, 'redisUrls' | 'kafkaBrokers' | 'isForAll' | 'seconds' | 'scope'> {
  /** Contenders that take turns, window by window, while all their servers run: a server and its base. */
  readonly entrants: readonly (readonly Contender[])[];
  readonly sockets: readonly number[];
  readonly stalled: readonly number[];
  readonly loads: readonly Load[];
  readonly rounds: number;
  /** Windows of each server in a round. Their samples count as rounds of their own. */
  readonly turns: number;
  readonly onProgress: (line: string) => void;
}

type Change = Pick<TrialOptions, 'sockets' | 'stalled' | 'cpuProfile'> &
  Partial<Pick<TrialOptions, 'isForAll'>> & { readonly loads?: readonly Load[]; readonly turns?: number };

/** Runs all servers under all conditions, in alternating rounds. */
export async function runRounds(plan: Plan): Promise<Sample[][]> {
  const rounds: Sample[][] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    // Every other round runs backwards, so that drift does not always affect the same contender.
    const ordered = <Item>(items: readonly Item[]) => (round % 2 === 1 ? items : items.toReversed());
    const samples: Sample[][] = Array.from({ length: plan.turns }, () => []);
    for (const contenders of ordered(plan.entrants)) {
      const trial = async (change: Change) => {
        const turns = await runPlanned(plan, ordered(contenders), `round ${round} of ${plan.rounds}`, change);
        turns.forEach((turn, i) => samples[i]!.push(...turn));
      };
      for (const sockets of plan.sockets) {
        for (const stalled of ordered(plan.stalled)) await trial({ sockets, stalled });
        // The reference of the others.
        if (!plan.isForAll && contenders[0]!.name === 'raw-ws') {
          await trial({ sockets, stalled: 0, isForAll: true, loads: [{ outstanding: 1 }] });
        }
      }
    }
    rounds.push(...samples);
  }
  return rounds;
}

/** Runs a window of one server and writes its CPU profile to `cpuProfile`. */
export async function runProfiled(plan: Plan, contender: Contender, cpuProfile: string): Promise<Sample> {
  const loads = [plan.loads.at(-1)!];
  const change = { sockets: plan.sockets[0]!, stalled: 0, loads, cpuProfile, turns: 1 };
  return (await runPlanned(plan, [contender], 'CPU profile', change))[0]![0]!;
}

/** The samples of each turn. */
async function runPlanned(
  plan: Plan,
  contenders: readonly Contender[],
  title: string,
  change: Change,
): Promise<Sample[][]> {
  const { loads = plan.loads, turns = plan.turns, ...rest } = change;
  const trials: Trial[] = [];
  const samples: Sample[][] = [];
  try {
    for (const contender of contenders) {
      const options = {
        ...plan,
        ...rest,
        contender,
        load: loads[0]!,
        isWatched: Math.max(...plan.stalled) > 0,
        onPeriod: (what: string) => plan.onProgress(`${title}: ${contender.title}: ${what}`),
      };
      trials.push(await openTrial(options));
    }
    for (let turn = 0; turn < turns; turn++) {
      const samplesOfTurn: Sample[] = [];
      for (const load of loads) {
        for (const trial of turn % 2 === 0 ? trials : trials.toReversed())
          samplesOfTurn.push(await trial.measure(load));
      }
      samples.push(samplesOfTurn);
    }
  } finally {
    for (const trial of trials) await trial.stop();
  }
  return samples;
}
