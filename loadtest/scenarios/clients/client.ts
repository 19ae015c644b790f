import type { Dice } from '../../../src/graphs/auction/dice.ts';
import type { Interest } from '../load/interests.ts';

/** What happens to one client; times are for the owner to take. */
export interface ClientOwner {
  /** A connection is opened. */
  onConnecting(): void;
  /** It is acknowledged, has subscribed, and a ping after that was answered. */
  onReady(): void;
  /** It has ended. `code`: the server's close code; 1006 where there was none; 1000 after `reconnect()`. */
  onClosed(code: number): void;
  /** A result of a subscription, by its place in `interests`. */
  onResult(subscription: number, payload: Buffer | object): void;
  /** The server ended a subscription, or said what no client should hear. */
  onFailure(what: string): void;
}

export interface ClientPlan {
  readonly port: number;
  readonly interests: readonly Interest[];
  readonly dice: Dice;
  /** Reads no more than 4 KB a second. */
  readonly isSlow: boolean;
}

/** One user's connection, which comes back when it ends. */
export interface Client {
  start(): void;
  /** Closes the connection with 1000 and opens the next one at once, as a page that is loaded anew. */
  reconnect(): void;
  /** Ends for good. Idempotent. */
  stop(): void;
}
