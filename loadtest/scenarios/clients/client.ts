import type { Dice } from '../../../examples/auction/dice.ts';
import type { Interest } from '../load/interests.ts';

/** Callbacks for the owner of a client, which takes the times. */
export interface ClientOwner {
  /** The client opens a connection. */
  onConnecting(): void;
  /** The connection is acknowledged, and a ping after the subscribe messages was answered. */
  onReady(): void;
  /** The connection has ended. `code`: the server's close code; 1006 without one; 1000 after `reconnect()`. */
  onClosed(code: number): void;
  /** A result of the subscription at this index of `interests`. */
  onResult(subscription: number, payload: Buffer | object): void;
  /** The server says that events may have been missed: `gap: true`, or `resumed: false`. Raw clients do not look for it. */
  onGap(): void;
  /** The server ended a subscription or sent an unexpected message. */
  onFailure(what: string): void;
}

export interface ClientPlan {
  readonly port: number;
  readonly interests: readonly Interest[];
  readonly dice: Dice;
  /** Reads at most 4 KB a second. */
  readonly isSlow: boolean;
}

/** One user's connection. It reconnects when it ends. */
export interface Client {
  start(): void;
  /** Closes the connection with 1000 and opens the next one at once, like a page reload. */
  reconnect(): void;
  /** Closes the connection and does not reconnect. Idempotent. */
  stop(): void;
}
