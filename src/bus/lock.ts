/** Who holds a name among the processes of a bus. */
export interface Lock {
  readonly holder: string;
  /** When the holder first took it, in ms since 1970. */
  readonly since: number;
}

export interface LockRequest {
  /** Processes that give the same holder hold the lock together. */
  readonly holder: string;
  /** `Lock.since` of the last lock that this process had; undefined: it had none. The holder that took the name first has it. */
  readonly since?: number | undefined;
  /** Until the lock expires unless it is taken again. */
  readonly ttlMs: number;
}
