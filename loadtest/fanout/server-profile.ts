import { mkdir } from 'node:fs/promises';
import { callTree } from '../profile/call-tree.ts';
import { readProfile } from '../profile/read-profile.ts';
import type { Cells } from '../runner/table.ts';
import { titleOf } from './contenders.ts';
import { runProfiled } from './rounds.ts';
import type { Plan } from './rounds.ts';
import { STAGES, sharesOf } from './stages.ts';
import type { StageShare } from './stages.ts';
import type { Conditions } from './trial.ts';

/** A server's time by stage. */
export interface ServerProfile extends Omit<Conditions, 'stalled'> {
  /** Shares of the main thread's busy time. */
  readonly shares: readonly StageShare[];
}

export const PROFILES = 'loadtest/profiles';

/**
 * Profiles one more window of each server after all measured ones; its figures do not count. Writes `<name>-<server>.cpuprofile` to
 * loadtest/profiles.
 */
export async function profileServers(plan: Plan, name: string): Promise<ServerProfile[]> {
  const profiles: ServerProfile[] = [];
  await mkdir(PROFILES, { recursive: true });
  for (const contender of plan.entrants.flat()) {
    const cpuProfile = `${PROFILES}/${name}-${contender.name}.cpuprofile`;
    const { sockets, isForAll, outstanding, rate } = await runProfiled(plan, contender, cpuProfile);
    const root = callTree(await readProfile(cpuProfile));
    profiles.push({ contender: contender.name, sockets, isForAll, outstanding, rate, shares: sharesOf(root) });
  }
  return profiles;
}

/** One line per stage. `cpuUs`: CPU time per delivery of the server without the profiler. */
export function stageTable(
  profiles: readonly ServerProfile[],
  cpuUs: (profile: ServerProfile) => number | undefined,
): Cells[] {
  const stages = Object.entries(STAGES).filter(([stage]) =>
    profiles.some(({ shares }) => shares.some((share) => share.stage === stage)),
  );
  const cellsOf = (profile: ServerProfile, stage: string) => {
    const percent = profile.shares.find((share) => share.stage === stage)?.percent;
    if (percent === undefined) return ['', ''];
    const us = cpuUs(profile);
    return [`${percent.toFixed(1)} %`, us === undefined ? '' : ((percent / 100) * us).toFixed(1)];
  };
  return [
    ['stage', ...profiles.flatMap(({ contender }) => [titleOf(contender), 'µs/delivery'])],
    ...stages.map(([stage, name]) => [name, ...profiles.flatMap((profile) => cellsOf(profile, stage))]),
  ];
}
