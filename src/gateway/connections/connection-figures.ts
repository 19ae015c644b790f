/** For an operator. */
export interface ConnectionFigures {
  /** Bytes of messages that the kernel has not accepted. */
  readonly queued_bytes: number;
  /** Live now. */
  readonly operations: number;
  /** All bytes of the socket. */
  readonly bytes_sent: number;
  readonly bytes_received: number;
  readonly age_seconds: number;
}
