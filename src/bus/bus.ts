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
  /**
   * Connects. Resolves with the outcome of the first attempt, also a bad one: servers that are away are awaited in the
   * background (`isAvailable`).
   * @throws BusUnavailableError when the bus is closed.
   */
  start(): Promise<void>;
  /** Whether every server behind the bus answers now. */
  readonly isAvailable: boolean;
  /**
   * Publishes, in order per channel. Resolves once every message was accepted; at-most-once towards subscribers, and nothing is queued
   * for later.
   * @throws BusUnavailableError when any message was not accepted; some may have been, so a retry repeats the whole.
   */
  publish(messages: readonly Message[]): Promise<void>;
  /**
   * Resolves once the subscription is acknowledged: every message accepted after that moment reaches the listener, in order,
   * and none reaches it before. One subscription per channel however many listeners; listeners are counted, and one that
   * throws is logged without harm to the others.
   * @throws BusUnavailableError when the server refuses the channel, stays away too long or the bus is closed.
   */
  subscribe(channel: string, listener: Listener): Promise<Unsubscribe>;
  /** Idempotent and bounded in time; later calls return the same promise. */
  close(): Promise<void>;
}

/** What a bus did, for the caller to count. Called synchronously; must not throw. */
export interface BusObserver {
  /** Messages of one `publish` that were all accepted. */
  onPublish?(messages: number): void;
  /** Messages of one `publish` that was refused as a whole. */
  onPublishFailure?(messages: number): void;
  /** Channels subscribed now, after each change. */
  onSubscriptions?(channels: number): void;
  /** These channels were without a subscription for a while and have one again: messages may have been missed. */
  onGap?(channels: readonly string[]): void;
  /** A lost link to a server is back. */
  onReconnect?(): void;
}
