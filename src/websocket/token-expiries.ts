/** A connection whose token expires. */
export interface ExpiringConnection {
  /** In ms since 1970. It does not change while the connection is added. */
  readonly tokenExpiresAtMs: number;
  /** Closes the connection. */
  onTokenExpired(): void;
}

const MINUTE_MS = 60_000;
const TICK_MS = 500;
/** How long before their expiry connections begin to be closed, so that many that expire at once are closed by then. */
const LEAD_MS = 1_000;
/** Connections closed in one turn of the event loop; each takes some 0.05 ms. */
const CLOSES_PER_TURN = 100;

/**
 * When the tokens of all connections expire, with one timer. It compares with the wall clock, as the verification of a token does: if the
 * clock jumps, the next tick follows it.
 *
 * Connections are kept by the minute of their expiry, which costs less memory than by the second. A tick looks at each connection of the
 * minutes that have begun.
 */
export class TokenExpiries<T extends ExpiringConnection> {
  readonly #minutes = new Map<number, Set<T>>();
  /** No token expires before this time, in ms since 1970. */
  #nextMs = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  start(): void {
    this.#timer ??= setInterval(this.#onTick, TICK_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#minutes.clear();
  }

  add(connection: T): void {
    const { tokenExpiresAtMs } = connection;
    const minute = minuteOf(tokenExpiresAtMs);
    const connections = this.#minutes.get(minute);
    if (connections) connections.add(connection);
    else this.#minutes.set(minute, new Set([connection]));
    this.#nextMs = Math.min(this.#nextMs, tokenExpiresAtMs);
  }

  /** Idempotent. */
  delete(connection: T): void {
    const minute = minuteOf(connection.tokenExpiresAtMs);
    const connections = this.#minutes.get(minute);
    if (connections?.delete(connection) && connections.size === 0) this.#minutes.delete(minute);
  }

  /** Closes at once whatever has expired. For the path of an event: it is one comparison unless the event loop was blocked. */
  readonly closeExpired = (): void => {
    const now = Date.now();
    if (now >= this.#nextMs) for (const connection of this.#due(now)) connection.onTokenExpired();
  };

  readonly #onTick = (): void => {
    if (this.#isClosing) return;
    const due = this.#due(Date.now() + LEAD_MS);
    // They are not closed yet.
    if (due.length > 0) this.#nextMs = -Infinity;
    this.#closeNext(due);
  };

  #closeNext(due: readonly T[]): void {
    const limit = Date.now() + LEAD_MS;
    for (const connection of due.slice(0, CLOSES_PER_TURN)) {
      // It may have ended, or have another token, since the tick.
      if (connection.tokenExpiresAtMs <= limit && this.#has(connection)) connection.onTokenExpired();
    }
    const rest = due.slice(CLOSES_PER_TURN);
    this.#isClosing = rest.length > 0;
    if (this.#isClosing) setImmediate(() => this.#closeNext(rest));
  }

  #has(connection: T): boolean {
    return this.#minutes.get(minuteOf(connection.tokenExpiresAtMs))?.has(connection) === true;
  }

  /** The connections that expire until then. Finds out when the others do. */
  #due(untilMs: number): T[] {
    const due: T[] = [];
    this.#nextMs = Infinity;
    for (const [minute, connections] of this.#minutes) {
      const startMs = minute * MINUTE_MS;
      if (startMs > untilMs) this.#nextMs = Math.min(this.#nextMs, startMs);
      else {
        for (const connection of connections) {
          if (connection.tokenExpiresAtMs <= untilMs) due.push(connection);
          else this.#nextMs = Math.min(this.#nextMs, connection.tokenExpiresAtMs);
        }
      }
    }
    return due;
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
