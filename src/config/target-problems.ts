import { TargetError, parseTarget } from './profile-target.ts';
import type { Settings } from './settings.ts';

/** A line if PROFILE_ON_EXIT can receive no profile. Whether a URL takes it shows only when the pod ends. */
export function targetProblems({
  PROFILE_ON_EXIT: target,
  names,
}: Pick<Settings, 'PROFILE_ON_EXIT' | 'names'>): string[] {
  if (target === '') return [];
  try {
    parseTarget(target);
    return [];
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return [
      `${names.PROFILE_ON_EXIT}: expected a directory that this user may write to, or an http:// or https:// URL, but ${error.message}`,
    ];
  }
}
