import { Latency } from '../../runner/latency.ts';

/** The end of a connection that had subscribed. `at`: ms since 1970. */
export interface Closing {
  readonly at: number;
  readonly code: number;
}

/** State that all users of one kind share. */
export interface FleetState {
  readonly clock: () => number;
  readonly latency: Latency;
  readonly reconnects: Latency;
  readonly handshakes: Latency;
  readonly counts: Counts;
  /** In the order of time, since the window began. */
  closings: Closing[];
  /** Latency counts for records from this time on. */
  windowStartsAt: number;
}

export interface Counts {
  delivered: number;
  duplicates: number;
  reordered: number;
  corrupt: number;
  unrequested: number;
  gaps: number;
  readonly closes: Record<string, number>;
  readonly failedAttempts: Record<string, number>;
  failures: string[];
  failureCount: number;
}

/** Nothing received. */
export function createFleetState(clock: () => number): FleetState {
  return {
    clock,
    ...{ latency: new Latency(), reconnects: new Latency(), handshakes: new Latency() },
    counts: {
      ...{ delivered: 0, duplicates: 0, reordered: 0, corrupt: 0, unrequested: 0, gaps: 0, failureCount: 0 },
      ...{ failures: [], closes: {}, failedAttempts: {} },
    },
    closings: [],
    windowStartsAt: Infinity,
  };
}
