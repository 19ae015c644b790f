/** Who holds a name among the processes of a bus. */
export interface Claim {
  readonly holder: string;
  /** When the holder first claimed it, in ms since 1970. */
  readonly since: number;
}

export interface ClaimRequest {
  /** Processes that give the same holder hold the claim together. */
  readonly holder: string;
  /** `Claim.since` of the last claim that this process had; undefined: it had none. The holder that claimed the name first has it. */
  readonly since?: number | undefined;
  /** Until the claim expires unless it is claimed again. */
  readonly ttlMs: number;
}
