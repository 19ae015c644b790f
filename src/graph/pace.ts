/** How a subscription skips events of which a newer one of the same key has come. */
export interface Pace {
  /** Least time in ms between two events of a key; 0: none. */
  readonly ms: number;
  /** True: a client that does not keep up receives the newest events of each key, instead of being closed. */
  readonly keepsSlow: boolean;
  /** True: all events of a channel have one key. */
  readonly isOfChannel: boolean;
}
