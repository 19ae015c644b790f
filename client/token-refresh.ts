import { Deadline } from './deadline.ts';

/** A token, alone, under the name that it has in the parameters. */
export type TokenPayload = Readonly<Record<string, unknown>>;

/** Names of the parameters in which crier looks for a token, in its order. */
const NAMES = ['token', 'authorization', 'Authorization'];
/** The share of a token's remaining life that is left when it is refreshed, if that is less than `refreshAheadMs`. */
const MAX_AHEAD_SHARE = 0.2;
/** With less time left, in ms, nothing is refreshed any more. */
const MIN_LEFT_MS = 1_000;
/** A longer timer would fire at once. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/**
 * Says when the token of a connection must be refreshed. A refresh that fails, or brings the same token, is repeated after four fifths of the
 * time that is left, and so on down to a second. Then the server closes the connection, and the client opens another one.
 */
export class TokenRefresh {
  readonly #aheadMs: number;
  readonly #refresh: () => void;
  readonly #due = new Deadline(() => this.#onDue());
  /** Of performance.now(). */
  #expiresAt = 0;

  /** @param aheadMs 0: nothing is refreshed */
  constructor(aheadMs: number, refresh: () => void) {
    this.#aheadMs = aheadMs;
    this.#refresh = refresh;
  }

  /** @param payload of `connection_ack` or a pong; ignored if it does not say when the token expires */
  onPayload(payload: unknown): void {
    const { expiresInMs } = (payload ?? {}) as { expiresInMs?: unknown };
    if (typeof expiresInMs !== 'number' || this.#aheadMs <= 0) return;
    this.#expiresAt = performance.now() + expiresInMs;
    this.#schedule();
  }

  clear(): void {
    this.#due.clear();
  }

  #schedule(): void {
    const leftMs = this.#expiresAt - performance.now();
    if (leftMs < MIN_LEFT_MS) return;
    const waitMs = leftMs - Math.min(this.#aheadMs, leftMs * MAX_AHEAD_SHARE);
    this.#due.set(Math.min(waitMs, MAX_WAIT_MS));
  }

  #onDue(): void {
    this.#schedule();
    this.#refresh();
  }
}

/** undefined: the parameters have no token. */
export function tokenOf(params: Readonly<Record<string, unknown>> | undefined): TokenPayload | undefined {
  const name = NAMES.find((parameter) => params?.[parameter] !== undefined);
  return name === undefined ? undefined : { [name]: params![name] };
}
