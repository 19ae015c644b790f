export interface ConnectionLimits {
  readonly maxOperations: number;
  readonly maxIdBytes: number;
  /** Of the text that a connection keeps of the upgrade's headers and `connection_init` together: without a token that was verified. */
  readonly maxInitBytes: number;
  readonly maxMessagesPerSecond: number;
  readonly maxMessageBurst: number;
  readonly maxPendingEvents: number;
  /** Bytes that the operations of one connection may keep. */
  readonly maxHeldBytes: number;
  readonly executionTimeoutMs: number;
  /** Age in ms at which a connection is closed, ± 10 %. 0: never. */
  readonly maxAgeMs: number;
}
