import type { Outbox } from '../fanout/outbox/outbox.ts';
import type { Authenticated, Unauthenticated } from '../identity/authenticator.ts';
import type { TokenParameter } from '../identity/token-location.ts';
import { authenticatedPayload } from './authenticated-payload.ts';
import type { SocketFormat } from './socket-format.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { refusalReason } from '../connections/refusal-close.ts';

/** A connection whose token may be refreshed. */
export interface RefreshOwner {
  readonly isEnded: boolean;
  verify(token: TokenParameter): Promise<Authenticated | Unauthenticated>;
  /** The token is accepted. */
  onRefreshed(authenticated: Authenticated): void;
  /** The token is revoked. Closes the connection. */
  revoke(): void;
}

/** Refreshes that one connection may have at once. */
const BURST = 10;
/** Then one in this time, in ms. A refresh may ask a backend, and authorises each operation again. */
const INTERVAL_MS = 5_000;

const TOO_MANY = {
  error: `Too many refreshes: try again in ${INTERVAL_MS / 1000} s`,
  retryInMs: INTERVAL_MS,
};

/**
 * Refreshes of one connection's token: one is verified at a time, and only the latest of the others waits. Each is answered. After a refusal
 * the connection keeps its claims until they expire; but a revoked token ends it.
 */
export class TokenRefreshes {
  readonly #owner: RefreshOwner;
  readonly #outbox: Pick<Outbox<SocketFormat>, 'format' | 'send'>;
  readonly #rateLimit = new RateLimit(1000 / INTERVAL_MS, BURST);
  #waiting: TokenParameter | undefined;
  #isRunning = false;
  /** Of the latest run. */
  #done: Promise<void> | undefined;

  constructor(owner: RefreshOwner, outbox: Pick<Outbox<SocketFormat>, 'format' | 'send'>) {
    this.#owner = owner;
    this.#outbox = outbox;
  }

  /** Resolves when no refresh is left; undefined: none is in flight. Rejects if the owner does. */
  get done(): Promise<void> | undefined {
    return this.#isRunning ? this.#done : undefined;
  }

  add(token: TokenParameter): Promise<void> {
    if (this.#waiting) this.#answer({ error: 'Replaced by a later token' });
    this.#waiting = token;
    return this.#isRunning ? this.#done! : (this.#done = this.#run());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let token = this.#waiting; token && !this.#owner.isEnded; token = this.#waiting) {
        this.#waiting = undefined;
        if (this.#rateLimit.take(performance.now())) this.#end(await this.#owner.verify(token));
        else this.#answer(TOO_MANY);
      }
    } finally {
      // Not once its promise settles: a token that comes before would wait for ever.
      this.#isRunning = false;
    }
  }

  #end(outcome: Authenticated | Unauthenticated): void {
    if (this.#owner.isEnded) return;
    if (!('failure' in outcome)) {
      this.#owner.onRefreshed(outcome);
      this.#answer(authenticatedPayload(outcome));
    } else if (outcome.failure === 'token_revoked') this.#owner.revoke();
    else this.#answer({ error: refusalReason(outcome.failure) });
  }

  #answer(payload: object): void {
    this.#outbox.send(this.#outbox.format.pongWith(payload));
  }
}
