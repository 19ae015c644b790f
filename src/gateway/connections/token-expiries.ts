import { countDue, longestLeadMs } from './expiry-plan.ts';

/** A connection whose token expires. */
export interface ExpiringConnection {
  /** In ms since 1970. It does not change while the connection is added. */
  readonly tokenExpiresAtMs: number;
  /** Closes the connection. */
  onTokenExpired(): void;
}

const MINUTE_MS = 60_000;
const TICK_MS = 500;
/** Connections closed in one turn of the event loop; each takes some 0.05 ms. */
const CLOSES_PER_TURN = 100;

/**
 * Closes connections before their tokens expire, with one timer. It compares with the wall clock, as the verification of a token does: if the
 * clock jumps, the next tick follows it.
 *
 * Connections are kept by the minute of their expiry, which costs less memory than by the second. A tick looks at each connection of the
 * minutes that have begun, or begin soon.
 */
export class TokenExpiries<T extends ExpiringConnection> {
  readonly #minutes = new Map<number, Set<T>>();
  #size = 0;
  /** No token expires before this time, in ms since 1970. */
  #nextMs = Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** Connections that the last tick found due and that are not closed yet, by expiry. */
  #due: readonly T[] = [];
  /** The latest of their expiries, in ms since 1970. */
  #dueUntilMs = 0;
  #isClosing = false;

  start(): void {
    this.#timer ??= setInterval(this.#onTick, TICK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#minutes.clear();
    this.#size = 0;
    this.#due = [];
  }

  add(connection: T): void {
    const { tokenExpiresAtMs } = connection;
    const minute = minuteOf(tokenExpiresAtMs);
    const connections = this.#minutes.get(minute);
    if (connections) connections.add(connection);
    else this.#minutes.set(minute, new Set([connection]));
    this.#size++;
    this.#nextMs = Math.min(this.#nextMs, tokenExpiresAtMs);
  }

  /** Idempotent. */
  delete(connection: T): void {
    const minute = minuteOf(connection.tokenExpiresAtMs);
    const connections = this.#minutes.get(minute);
    if (!connections?.delete(connection)) return;
    this.#size--;
    if (connections.size === 0) this.#minutes.delete(minute);
  }

  /** Closes at once whatever has expired. For the path of an event: it is one comparison unless closes are late. */
  readonly closeExpired = (): void => {
    const now = Date.now();
    if (now >= this.#nextMs) for (const connection of this.#expiring(now)) connection.onTokenExpired();
  };

  readonly #onTick = (): void => {
    const now = Date.now();
    const soon = this.#expiring(now + longestLeadMs(this.#size));
    const expiries = soon.map(({ tokenExpiresAtMs }) => tokenExpiresAtMs);
    // If closes are late, `closeExpired` must find the first of these, too.
    this.#nextMs = Math.min(this.#nextMs, ...expiries.slice(0, 1));
    const due = countDue(expiries, now);
    this.#due = soon.slice(0, due);
    this.#dueUntilMs = expiries[due - 1] ?? 0;
    if (!this.#isClosing) this.#closeNext();
  };

  #closeNext(): void {
    for (const connection of this.#due.slice(0, CLOSES_PER_TURN)) {
      // It may have ended, or have another token, since the tick.
      if (connection.tokenExpiresAtMs <= this.#dueUntilMs && this.#has(connection)) connection.onTokenExpired();
    }
    this.#due = this.#due.slice(CLOSES_PER_TURN);
    this.#isClosing = this.#due.length > 0;
    if (this.#isClosing) setImmediate(() => this.#closeNext());
  }

  #has(connection: T): boolean {
    return this.#minutes.get(minuteOf(connection.tokenExpiresAtMs))?.has(connection) === true;
  }

  /** The connections that expire until then, by expiry. Sets `#nextMs` for the others. */
  #expiring(untilMs: number): T[] {
    const expiring: T[] = [];
    this.#nextMs = Infinity;
    for (const [minute, connections] of this.#minutes) {
      const startMs = minute * MINUTE_MS;
      if (startMs > untilMs) this.#nextMs = Math.min(this.#nextMs, startMs);
      else {
        for (const connection of connections) {
          if (connection.tokenExpiresAtMs <= untilMs) expiring.push(connection);
          else this.#nextMs = Math.min(this.#nextMs, connection.tokenExpiresAtMs);
        }
      }
    }
    return expiring.sort((one, other) => one.tokenExpiresAtMs - other.tokenExpiresAtMs);
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
