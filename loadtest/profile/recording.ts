import type { PodProcess } from '../story/pods/pod-process.ts';
import type { Pod } from '../story/pods/pod.ts';
import type { PhaseName, StoryResult } from '../story/result.ts';

/** Runs of the story in which pods are profiled, in sequence. */
export interface Recording {
  readonly runs: readonly RecordedRun[];
  /** True: the pods are compared at rest, so one record at a time is enough for a flood. */
  readonly isIdle?: boolean;
  /** Called after the runs. Writes the files and returns the text to print. */
  finish(results: readonly StoryResult[]): Promise<string>;
}

export interface RecordedRun {
  readonly pod: Pod;
  onPhase?(phase: PhaseName, pod: PodProcess): Promise<void>;
  onDrained?(pod: PodProcess): Promise<void>;
}

/** Profiles the CPU during the flood. */
export function floodProfile(path: string): Pick<RecordedRun, 'onPhase'> {
  return {
    onPhase: async (phase, pod) => {
      if (phase === 'flood') await pod.startCpuProfile();
      if (phase === 'drain') await pod.stopCpuProfile(path);
    },
  };
}
