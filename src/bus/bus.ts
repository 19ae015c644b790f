/**
 * The seam between the two halves of crier: the worker publishes, the gateway subscribes. Two implementations (redis,
 * memory) keep the one contract of `test/bus/contract.ts`.
 */
export interface Message {
  readonly channel: string;
  /** JSON text. Passed through as it is: the bus never parses. */
  readonly payload: string;
}

export type Listener = (payload: string) => void;

/** Idempotent and never throwing; after it returned the listener is not called again. */
export type Unsubscribe = () => void;

export interface Bus {
  /** Connects. Resolves also while the servers are away: they are awaited in the background (`isAvailable`). */
  start(): Promise<void>;
  /** Whether every server behind the bus answers now. */
  readonly isAvailable: boolean;
  /**
   * Publishes in order. Resolves once every message was accepted; at-most-once towards subscribers, and nothing is queued
   * for later.
   * @throws BusUnavailableError when any message was not accepted; some may have been, so a retry repeats the whole.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Resolves once the subscription is acknowledged: every message accepted after that moment reaches the listener, in order.
   * One subscription per channel however many listeners; listeners are counted.
   * @throws BusUnavailableError when the server refuses the channel or the bus is closed.
   */
  subscribe(channel: string, listener: Listener): Promise<Unsubscribe>;
  /** Idempotent and bounded in time; later calls return the same promise. */
  close(): Promise<void>;
}
