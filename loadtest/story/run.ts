import type { Pod } from './pod.ts';
import type { Phases, StoryResult, StorySample } from './result.ts';

export interface StoryOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly sockets: number;
  /** kcat processes that write at the same time. */
  readonly loops: number;
  /** Records that may be on their way to the slowest socket; see `recordsAhead()`. */
  readonly ahead?: number;
  /** Longest wait for the last records, after producing has stopped. Default 180. */
  readonly drainSeconds?: number;
  readonly signal: AbortSignal;
  /** About once a second. */
  readonly onSample?: (sample: StorySample) => void;
}

/**
 * Drives one pod through the three phases: bare, `sockets` idle sockets, flood.
 * @throws Error when the pod does not start or refuses a socket, and the signal's reason. Losses are `faults` of the result.
 */
export function runStory(pod: Pod, phases: Phases, options: StoryOptions): Promise<StoryResult> {
  void phases;
  void options;
  return Promise.reject(new Error(`not there yet: ${pod.name}`));
}
