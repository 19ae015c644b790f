/** Who holds a name among the processes of a bus. */
export interface Lock {
  readonly holder: string;
  /** When the holder first took it, in ms since 1970. */
  readonly since: number;
}

export interface LockRequest {
  /** Processes that give the same holder hold the lock together. */
  readonly holder: string;
  /** Tells this process from the others of the holder. */
  readonly process: string;
  /** `Lock.since` of the last lock that this process had; undefined: it had none. The holder that took the name first has it. */
  readonly since?: number | undefined;
  /** Until this process counts as ended unless it takes the lock again. The lock expires with the last process of its holder. */
  readonly ttlMs: number;
}
