import type { Contender } from './contenders.ts';
import { runTrial } from './trial.ts';
import type { Sample, TrialOptions } from './trial.ts';

export interface Plan extends Pick<
  TrialOptions,
  'redisUrl' | 'kafkaBrokers' | 'isForAll' | 'outstanding' | 'seconds' | 'signal'
> {
  readonly entrants: readonly Contender[];
  readonly sockets: readonly number[];
  readonly stalled: readonly number[];
  readonly rounds: number;
  readonly onProgress: (line: string) => void;
}

type Change = Pick<TrialOptions, 'sockets' | 'stalled' | 'cpuProfile'> &
  Partial<Pick<TrialOptions, 'isForAll' | 'outstanding'>>;

/** Runs all servers under all conditions, in alternating rounds. */
export async function runRounds(plan: Plan): Promise<Sample[][]> {
  const rounds: Sample[][] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    // Every other round runs backwards, so that drift does not always affect the same contender.
    const ordered = <Item>(items: readonly Item[]) => (round % 2 === 1 ? items : items.toReversed());
    const samples: Sample[] = [];
    for (const contender of ordered(plan.entrants)) {
      const trial = (change: Change) => runPlanned(plan, contender, `round ${round} of ${plan.rounds}`, change);
      for (const sockets of plan.sockets) {
        for (const stalled of ordered(plan.stalled)) samples.push(...(await trial({ sockets, stalled })));
        // The reference of the others.
        if (!plan.isForAll && contender.name === 'raw-ws') {
          samples.push(...(await trial({ sockets, stalled: 0, isForAll: true, outstanding: [1] })));
        }
      }
    }
    rounds.push(samples);
  }
  return rounds;
}

/** Runs a window of one server and writes its CPU profile to `cpuProfile`. */
export async function runProfiled(plan: Plan, contender: Contender, cpuProfile: string): Promise<Sample> {
  const change = { sockets: plan.sockets[0]!, stalled: 0, outstanding: [plan.outstanding.at(-1)!], cpuProfile };
  return (await runPlanned(plan, contender, 'CPU profile', change))[0]!;
}

function runPlanned(plan: Plan, contender: Contender, title: string, change: Change): Promise<Sample[]> {
  plan.signal.throwIfAborted();
  return runTrial({
    ...plan,
    contender,
    isWatched: Math.max(...plan.stalled) > 0,
    onPeriod: (what) => plan.onProgress(`${title}: ${contender.title}: ${what}`),
    ...change,
  });
}
