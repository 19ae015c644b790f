import type { Claims, ConnectionFacts, RequestSource } from '../context/connection-facts.ts';
import type { Authenticated, Authenticator, Unauthenticated } from '../identity/authenticator.ts';
import type { TokenParameter } from '../identity/token-location.ts';

export type Authenticating = Pick<Authenticator, 'authenticate' | 'refresh'>;

/** Who one connection belongs to: nobody until it has been authenticated. */
export class ConnectionIdentity {
  readonly #authenticator: Authenticating;
  /** Cleared when the connection is authenticated; then `#facts` is set. */
  #request: Omit<RequestSource, 'params'> | undefined;
  #facts: ConnectionFacts | undefined;
  /** Whom its token names; only a token of the same subject may replace it. */
  #subject: string | undefined;
  #token: Claims | undefined;
  /** When its token expires, in ms since 1970; 0: it has none. */
  #expiresAtMs = 0;

  constructor(authenticator: Authenticating, request: Omit<RequestSource, 'params'>) {
    this.#authenticator = authenticator;
    this.#request = request;
  }

  /** Of the connection. */
  get id(): string | undefined {
    return this.#facts?.id ?? this.#request?.id;
  }

  /** Of the client: behind trusted proxies not that of the peer. */
  get address(): string {
    return this.#facts?.address ?? this.#request?.address ?? '';
  }

  /** undefined: not authenticated yet. */
  get facts(): ConnectionFacts | undefined {
    return this.#facts;
  }

  /** Claims of its token; undefined: it has none. */
  get token(): Claims | undefined {
    return this.#token;
  }

  get expiresAtMs(): number {
    return this.#expiresAtMs;
  }

  /** @param params payload of `connection_init` */
  authenticate(params: unknown): Promise<Authenticated | Unauthenticated> {
    return this.#authenticator.authenticate({ ...this.#request!, params });
  }

  /** @param parameter the token that replaces the present one */
  refresh(parameter: TokenParameter): Promise<Authenticated | Unauthenticated> {
    return this.#authenticator.refresh({ facts: this.#facts!, subject: this.#subject }, parameter);
  }

  adopt({ facts, token, subject, expiresAtMs = 0 }: Authenticated): void {
    this.#request = undefined;
    this.#facts = facts;
    this.#token = token;
    this.#subject = subject;
    this.#expiresAtMs = expiresAtMs;
  }
}
