import { Latency } from '../../runner/latency.ts';

/** The end of a connection that had subscribed. `at`: ms since 1970. */
export interface Closing {
  readonly at: number;
  readonly code: number;
}

/** State that all users of one kind share. */
export type FleetState = ReturnType<typeof createFleetState>;

/** Nothing received. */
export function createFleetState(clock: () => number) {
  return {
    clock,
    ...{ latency: new Latency(), reconnects: new Latency(), handshakes: new Latency() },
    counts: {
      ...{ delivered: 0, duplicates: 0, reordered: 0, corrupt: 0, unrequested: 0, gaps: 0, failureCount: 0 },
      closes: {} as Record<string, number>,
      failedAttempts: {} as Record<string, number>,
      failures: [] as string[],
    },
    /** In the order of time, since the window began. */
    closings: [] as Closing[],
    /** Latency counts for records from this time on. */
    windowStartsAt: Infinity,
  };
}
