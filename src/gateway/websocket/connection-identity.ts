import { isDeepStrictEqual } from 'node:util';
import type { PingMessage } from 'graphql-ws';
import { addressKey } from '../../config/addresses/ip-address.ts';
import { keptTextBytes, weightOfFacts } from '../../graph/context/connection-facts.ts';
import type { Claims, ConnectionFacts, RequestSource } from '../../graph/context/connection-facts.ts';
import type { Outbox } from '../fanout/outbox/outbox.ts';
import type { Authenticated, Authenticator, Unauthenticated } from '../identity/authenticator.ts';
import type { RefusalDelays } from '../identity/refusal-delays.ts';
import { grantsSame } from '../identity/grants.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import { tokenParameterOf, withToken } from '../identity/token-location.ts';
import type { TokenParameter } from '../identity/token-location.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import type { SocketFormat } from './socket-format.ts';
import { authenticatedPayload } from './authenticated-payload.ts';
import type { ConnectionOperations } from '../operations/connection-operations.ts';
import { headerOf } from '../connections/handshake-headers.ts';
import { refusalClose } from '../connections/refusal-close.ts';
import type { ExpiringConnection, TokenExpiries } from '../connections/token-expiries.ts';
import { TokenRefreshes } from './token-refreshes.ts';
import type { RefreshOwner } from './token-refreshes.ts';
import type { UserConnection, Users } from '../connections/users.ts';

export type Authenticating = Pick<Authenticator, 'authenticate' | 'authenticateAgain' | 'refresh'>;

export interface IdentityServices {
  readonly limits: ConnectionLimits;
  readonly authenticator: Authenticating;
  readonly tokenExpiries: Pick<TokenExpiries<ExpiringConnection>, 'add' | 'delete'>;
  readonly refusalDelays: Pick<RefusalDelays, 'run'>;
  readonly users: Users;
  readonly onRefusedUser: () => void;
  /** Called for each token that replaces the one of its connection. */
  readonly onTokenRefreshed: () => void;
}

/** What the identity needs of its connection. */
export interface IdentityOwner extends ExpiringConnection, UserConnection {
  readonly isEnded: boolean;
  /** Then it does not count among the connections of its user. */
  readonly isRouter: boolean;
  isRouterWith(token: Claims | undefined): boolean;
  /** It has this token from now on. */
  adoptToken(token: Claims | undefined): void;
  readonly outbox: Pick<Outbox<SocketFormat>, 'format' | 'send'>;
  readonly operations: Pick<ConnectionOperations, 'size' | 'renew' | 'replaceFacts'>;
  /** Closes it because its claims are revoked. */
  revoke(): void;
  close(code: number, reason: string): void;
}

/** What a handshake tells of its client. */
export interface HandshakeSource extends Omit<RequestSource, 'params'> {
  /** Counts as the parameter `token` of `connection_init`, if that has none; undefined: it has no token in a sub-protocol. */
  readonly token?: string | undefined;
}

/** Who one connection belongs to: nobody until its `connection_init` has been authenticated. */
export class ConnectionIdentity implements RefreshOwner {
  readonly #owner: IdentityOwner;
  readonly #services: IdentityServices;
  /** Cleared when the connection is authenticated; then `#facts` is set. */
  #request: HandshakeSource | undefined;
  #facts: ConnectionFacts | undefined;
  /** Whom its token names; only a token of the same subject may replace it. */
  #subject: string | undefined;
  /** Claims of its token; undefined: it has none. */
  #token: Claims | undefined;
  /** When its token expires, in ms since 1970; 0: it has none. */
  #expiresAtMs = 0;
  #isInitialised = false;
  #refreshes: TokenRefreshes | undefined;

  constructor(owner: IdentityOwner, request: HandshakeSource, services: IdentityServices) {
    this.#owner = owner;
    this.#request = request;
    this.#services = services;
  }

  /** Of the connection. */
  get id(): string | undefined {
    return this.#facts?.id ?? this.#request?.id;
  }

  /** Of the client: behind trusted proxies not that of the peer. */
  get address(): string {
    return this.#facts?.address ?? this.#request?.address ?? '';
  }

  get userAgent(): string | undefined {
    return this.#facts?.headers['user-agent'] ?? headerOf(this.#request?.rawHeaders ?? [], 'user-agent');
  }

  /** undefined: not authenticated yet. */
  get facts(): ConnectionFacts | undefined {
    return this.#facts;
  }

  /** As revocations compare it; undefined: not authenticated yet. */
  get knownClaims(): KnownClaims | undefined {
    return this.#facts && { claims: this.#facts.claims, token: this.#token };
  }

  /** Estimated memory of its facts, in bytes. */
  get heldBytes(): number {
    return this.#facts ? weightOfFacts(this.#facts) : 0;
  }

  get expiresAtMs(): number {
    return this.#expiresAtMs;
  }

  /** True after `connection_init`. */
  get isInitialised(): boolean {
    return this.#isInitialised;
  }

  get isEnded(): boolean {
    return this.#owner.isEnded;
  }

  /** Resolves when the refreshes in flight are over; undefined: there are none. */
  get refreshed(): Promise<void> | undefined {
    return this.#refreshes?.done;
  }

  /** Why its user may not start another operation now, for the client; undefined: it may. */
  get operationRefusal(): string | undefined {
    if (this.#subject === undefined || this.#owner.isRouter) return undefined;
    return this.#services.users.operationRefusal(this.#subject);
  }

  /**
   * Authenticates the connection and acknowledges it, or closes it.
   * @param params payload of `connection_init`
   */
  async initialise(params: unknown): Promise<void> {
    if (this.#isInitialised) {
      return this.#owner.close(CLOSE_CODES.secondInit, 'Too many initialisation requests');
    }
    this.#isInitialised = true;
    const { limits, authenticator, users } = this.#services;
    let isUserFull = false;
    const { token: offered, ...source } = this.#request!;
    const outcome = await authenticator.authenticate({ ...source, params: withToken(params, offered) }, (token) => {
      const isLimited = token?.subject !== undefined && !this.#owner.isRouterWith(token.claims);
      isUserFull = isLimited && !users.hasRoom(token.subject);
      return !isUserFull;
    });
    if (isUserFull) return this.#refuseUser();
    if ('failure' in outcome) return this.#refuse(outcome);
    if (this.isEnded) return;
    if (keptTextBytes(outcome.facts) > limits.maxInitBytes) {
      const reason = `Headers and connection_init may have ${limits.maxInitBytes} bytes beside the token`;
      return this.#owner.close(CLOSE_CODES.badRequest, reason);
    }
    if (!this.#adopt(outcome)) return this.#refuseUser();
    const { outbox } = this.#owner;
    outbox.send(outbox.format.acknowledgement(authenticatedPayload(outcome)));
  }

  /** A ping with a token refreshes the connection's. It is never echoed. @param bytes of its frame */
  answerPing(message: PingMessage, bytes: number): Promise<void> | void {
    const { outbox } = this.#owner;
    const { format } = outbox;
    const token = message.payload && tokenParameterOf(message.payload);
    if (!token) return void outbox.send(format.pong(message, bytes));
    if (!this.#facts) return void outbox.send(format.pongWith({ error: 'Unauthorized' }));
    const { maxInitBytes } = this.#services.limits;
    if (bytes > maxInitBytes) {
      const error = `A ping with a token may have ${maxInitBytes} bytes`;
      return void outbox.send(format.pongWith({ error }));
    }
    return (this.#refreshes ??= new TokenRefreshes(this, outbox)).add(token);
  }

  verify(token: TokenParameter): Promise<Authenticated | Unauthenticated> {
    return this.#services.authenticator.refresh({ facts: this.#facts!, subject: this.#subject }, token);
  }

  onRefreshed(authenticated: Authenticated): void {
    const { facts } = authenticated;
    const isSame = grantsSame(this.#facts!.claims, facts.claims);
    if (!this.#adopt(authenticated)) return this.#refuseUser();
    if (isSame) this.#owner.operations.replaceFacts(facts);
    else this.#owner.operations.renew(facts);
    this.#services.onTokenRefreshed();
  }

  /** The graph has another `authenticate`: the connection gets the claims that it returns, or is closed. Never rejects. */
  async authenticateAgain(): Promise<void> {
    const facts = this.#facts;
    if (!facts) return;
    const expiresAtMs = this.#expiresAtMs === 0 ? undefined : this.#expiresAtMs;
    const known = { facts, token: this.#token, ack: undefined, subject: this.#subject, expiresAtMs };
    const outcome = await this.#services.authenticator.authenticateAgain(known);
    // A refresh of its token was authenticated meanwhile, by the same graph.
    if (this.isEnded || this.#facts !== facts) return;
    if ('failure' in outcome) return this.#owner.close(...refusalClose(outcome.failure));
    if (isDeepStrictEqual(facts.claims, outcome.facts.claims)) return;
    this.#adopt(outcome);
    this.#owner.operations.renew(outcome.facts);
  }

  revoke(): void {
    this.#owner.revoke();
  }

  /** The connection has ended. Idempotent. */
  end(): void {
    this.#services.tokenExpiries.delete(this.#owner);
    if (this.#subject !== undefined) this.#services.users.delete(this.#subject, this.#owner);
  }

  /** Not async, and drops headers and token: nothing that the client sent is kept while the refusal waits. */
  #refuse({ failure, subject }: Unauthenticated): void {
    if (this.#request) this.#request = { ...this.#request, rawHeaders: [], token: undefined };
    const close = () => this.#owner.close(...refusalClose(failure));
    this.#services.refusalDelays.run({ address: addressKey(this.address), subject }, failure, close);
  }

  #refuseUser(): void {
    this.#services.onRefusedUser();
    this.#owner.close(CLOSE_CODES.tryAgainLater, 'This user has as many connections as a user may have');
  }

  /** Returns false if its user may have no other connection. */
  #adopt({ facts, token, subject, expiresAtMs = 0 }: Authenticated): boolean {
    const { tokenExpiries, users } = this.#services;
    const isKnown = this.#facts !== undefined && !this.#owner.isRouter;
    this.#owner.adoptToken(token);
    if (subject !== undefined) {
      if (this.#owner.isRouter) users.delete(subject, this.#owner);
      else if (!isKnown && !users.add(subject, this.#owner)) return false;
    }
    tokenExpiries.delete(this.#owner);
    this.#request = undefined;
    this.#facts = facts;
    this.#token = token;
    this.#subject = subject;
    this.#expiresAtMs = expiresAtMs;
    if (expiresAtMs > 0) tokenExpiries.add(this.#owner);
    return true;
  }
}
