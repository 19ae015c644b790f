import type { Outbox } from '../fanout/outbox/outbox.ts';
import type { Authenticated, Unauthenticated } from '../identity/authenticator.ts';
import type { TokenParameter } from '../identity/token-location.ts';
import { authenticatedPayload, pongWith } from './protocol.ts';
import { refusalReason } from './refusal-close.ts';

/** A connection whose token may be refreshed. */
export interface RefreshOwner {
  readonly isEnded: boolean;
  verify(token: TokenParameter): Promise<Authenticated | Unauthenticated>;
  /** The token is accepted. */
  onRefreshed(identity: Authenticated): void;
}

/**
 * Refreshes of one connection's token: one is verified at a time, and only the latest of the others waits. Each is answered. After a refusal
 * the connection keeps its claims until they expire.
 */
export class TokenRefreshes {
  readonly #owner: RefreshOwner;
  readonly #outbox: Pick<Outbox, 'send'>;
  #waiting: TokenParameter | undefined;
  #done: Promise<void> | undefined;

  constructor(owner: RefreshOwner, outbox: Pick<Outbox, 'send'>) {
    this.#owner = owner;
    this.#outbox = outbox;
  }

  /** Resolves when no refresh is left; undefined: none is in flight. Rejects if the owner does. */
  get done(): Promise<void> | undefined {
    return this.#done;
  }

  add(token: TokenParameter): Promise<void> {
    if (this.#waiting) this.#outbox.send(pongWith({ error: 'Replaced by a later token' }));
    this.#waiting = token;
    return (this.#done ??= this.#run().finally(() => (this.#done = undefined)));
  }

  async #run(): Promise<void> {
    for (let token = this.#waiting; token && !this.#owner.isEnded; token = this.#waiting) {
      this.#waiting = undefined;
      const identity = await this.#owner.verify(token);
      if (this.#owner.isEnded) return;
      if ('failure' in identity) this.#outbox.send(pongWith({ error: refusalReason(identity.failure) }));
      else {
        this.#owner.onRefreshed(identity);
        this.#outbox.send(pongWith(authenticatedPayload(identity)));
      }
    }
  }
}
