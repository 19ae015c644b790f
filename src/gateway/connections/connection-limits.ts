/** What one connection may do, whatever its transport. Read at each use: some change while the server runs. */
export interface ConnectionLimits {
  readonly maxOperations: number;
  readonly maxIdBytes: number;
  /** Of the text that a connection keeps of its headers and `connection_init` together: without those that may hold a token. */
  readonly maxInitBytes: number;
  /** Of a message. A longer `subscribe` is answered with an error; any other longer message ends the connection. */
  readonly maxMessageBytes: number;
  /** Of what is received: a longer message ends the connection. */
  readonly maxReceivedBytes: number;
  readonly maxMessagesPerSecond: number;
  readonly maxMessageBurst: number;
  readonly maxPendingEvents: number;
  /** Bytes that the operations of one connection may keep. */
  readonly maxHeldBytes: number;
  /** Bytes that may wait for its socket. */
  readonly maxQueueBytes: number;
  /** Its part of the time for new documents, where 1 is that of a browser. */
  readonly documentShare: number;
  /** Longest wait in ms for the graph's code that authorises a live subscription again. */
  readonly executionTimeoutMs: number;
  /** Age in ms at which a connection is closed, ± 10 %. 0: never. */
  readonly maxAgeMs: number;
}
