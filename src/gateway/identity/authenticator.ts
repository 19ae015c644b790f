import { createRequest, createFacts } from '../../graph/context/connection-facts.ts';
import type {
  Claims,
  ConnectionFacts,
  ConnectionRequest,
  RequestSource,
} from '../../graph/context/connection-facts.ts';
import type { Acknowledgement, ContextDefinition } from '../../graph/context/context.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { NeutralScope } from '../../graph/context/neutral-scope.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { KnownClaims } from './revocation.ts';
import type { Authentication, Revocations } from './revocations.ts';
import { refreshedSource, tokenOf, withoutToken } from './token-location.ts';
import type { TokenParameter } from './token-location.ts';
import { TokenProblem } from './token-problem.ts';
import type { TokenRefusal } from './token-problem.ts';
import type { TokenVerifier, VerifiedToken } from './token-verifier.ts';

const LOG_WINDOW_MS = 10_000;

/**
 * Why a connection or request was not authenticated, as a metric label. `invalid_params`: its params cannot be used; `denied`, `threw`,
 * `timeout` and `invalid_claims`: what the graph's `authenticate` did; the others: its token.
 */
export type AuthenticationFailure = 'invalid_params' | 'denied' | 'threw' | 'timeout' | 'invalid_claims' | TokenRefusal;

export interface Authenticated {
  readonly facts: ConnectionFacts;
  /** Claims of its token, which the graph may have replaced; undefined: it has none. */
  readonly token: Claims | undefined;
  /** Payload of `connection_ack`; undefined: none. */
  readonly ack: Readonly<Record<string, unknown>> | undefined;
  /** Whom its token names (`VerifiedToken.subject`); undefined: nobody, or it has none. */
  readonly subject: string | undefined;
  /** When its token is refused from, in ms since 1970; undefined: it has none. */
  readonly expiresAtMs: number | undefined;
}

export interface Unauthenticated {
  readonly failure: AuthenticationFailure;
  /** Whom its token names, if that has a valid signature. */
  readonly subject: string | undefined;
}

export interface TokenOptions {
  readonly verifier: TokenVerifier;
  readonly isRequired: boolean;
  /** Name of the cookie that may hold a token; '': none. */
  readonly cookie: string;
  /** Whether a backend receives it. Else its text is dropped after `authenticate`: executions have its claims. */
  readonly isForwarded: boolean;
}

export interface AuthenticatorOptions {
  /** The graph's. Default: the claims of the token. */
  readonly authenticate?: ContextDefinition['authenticate'];
  /** undefined: no token is looked for. */
  readonly tokens?: TokenOptions | undefined;
  /** Default: nothing is revoked. */
  readonly revocations?: Pick<Revocations, 'refuses'>;
  /** Longest wait for the token and the graph's `authenticate`, in ms. */
  readonly timeoutMs: number;
  readonly log: Logger;
  readonly onFailure: (failure: AuthenticationFailure) => void;
}

/** The caller of `authenticate` did not admit the subject. */
class NotAdmittedError extends Error {}

/** Finds out who a connection or HTTP request belongs to: verifies its token, then asks the graph. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #scope = new NeutralScope();
  readonly #logWindow = new LogWindow(LOG_WINDOW_MS);
  #graphs = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Never rejects. A failure is counted and logged.
   * @param admits is asked before the graph, with the verified token if it has one; false: the failure is `denied`, and left to the caller
   */
  authenticate(
    source: RequestSource,
    admits: (token: VerifiedToken | undefined) => boolean = () => true,
  ): Promise<Authenticated | Unauthenticated> {
    const check = (token: VerifiedToken | undefined) => {
      if (admits(token)) return token;
      throw new NotAdmittedError();
    };
    return this.#authenticate(source, check, 'the connection is refused');
  }

  /**
   * Why an identity no longer counts, as for a new one; undefined: it does. A failure is counted.
   * @param begunAt when its authentication began, of performance.now()
   */
  failureOf({ facts, token, expiresAtMs }: Authenticated, begunAt: number): AuthenticationFailure | undefined {
    const { revocations, onFailure } = this.#options;
    const isRevoked = () => revocations?.refuses({ claims: facts.claims, token }, { expiresAtMs, begunAt });
    const isExpired = expiresAtMs !== undefined && Date.now() >= expiresAtMs;
    const failure = isExpired ? 'token_expired' : isRevoked() ? 'token_revoked' : undefined;
    if (failure) onFailure(failure);
    return failure;
  }

  /** Authenticates a connection again, with another token of its subject. Never rejects. A failure is counted and logged. */
  refresh(
    { facts, subject }: Pick<Authenticated, 'facts' | 'subject'>,
    parameter: TokenParameter,
  ): Promise<Authenticated | Unauthenticated> {
    const check = (token: VerifiedToken | undefined) => {
      if (token?.subject !== undefined && token.subject === subject) return token;
      throw new TokenProblem('other_subject', 'the connection has another subject, or none');
    };
    return this.#authenticate(refreshedSource(facts, parameter), check, 'the connection keeps its claims');
  }

  /** Count of the graphs that were replaced: an identity of an earlier one must be authenticated again before it is used. */
  get graphs(): number {
    return this.#graphs;
  }

  /** The graph's `authenticate` was replaced: whoever it is being asked about is asked about again. */
  onGraphReplaced(): void {
    this.#graphs++;
  }

  /**
   * Asks the graph again about a connection, with the claims of the token that it has: the graph has another `authenticate`. Never rejects. A
   * failure is counted and logged.
   */
  async authenticateAgain(known: Authenticated): Promise<Authenticated | Unauthenticated> {
    const { log, onFailure } = this.#options;
    const { token, subject, expiresAtMs } = known;
    const begunAt = performance.now();
    const request = createFacts(known.facts, token ?? {});
    let failure: AuthenticationFailure = 'threw';
    try {
      const answer = await this.#askInTime(request);
      failure = answer === false ? 'denied' : 'invalid_claims';
      if (answer !== false) {
        const facts = createFacts(known.facts, partsOf(answer ?? request.claims).claims);
        this.#assertNotRevoked({ claims: facts.claims, token }, { expiresAtMs, begunAt });
        return { ...known, facts };
      }
    } catch (error) {
      if (error instanceof TokenProblem) failure = error.refusal;
      this.#logWindow.run(`again ${failure}`, (suppressed) =>
        log.warn(
          { err: loggedError(error), reason: failure, connection: request.id, suppressed },
          'authenticate of the reloaded graph failed; the connection is closed',
        ),
      );
    }
    onFailure(failure);
    return { failure, subject };
  }

  async #askInTime(request: ConnectionRequest) {
    const { timeoutMs } = this.#options;
    const timer = new AbortController();
    const timeout = delay(timeoutMs, undefined, { signal: timer.signal, ref: false }).then(() => {
      throw new Error(`not authenticated within ${timeoutMs} ms`);
    });
    try {
      return await Promise.race([this.#scope.run(this.#ask, this, request), timeout]);
    } finally {
      timer.abort();
      timeout.catch(() => undefined);
    }
  }

  /**
   * @param check throws a TokenProblem if the token is not accepted here
   * @param consequence of a failure, for the log
   */
  async #authenticate(
    source: RequestSource,
    check: (token: VerifiedToken | undefined) => VerifiedToken | undefined,
    consequence: string,
  ): Promise<Authenticated | Unauthenticated> {
    const { log, timeoutMs, onFailure } = this.#options;
    const begunAt = performance.now();
    let failure: AuthenticationFailure = 'invalid_params';
    let subject: string | undefined;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        failure = 'timeout';
        reject(new Error(`not authenticated within ${timeoutMs} ms`));
      }, timeoutMs);
    });
    try {
      const token = check(await Promise.race([this.#verify(source), timeout]));
      subject = token?.subject;
      const request = createRequest(source, token?.claims);
      const tokenClaims = token && request.claims;
      const authentication = { expiresAtMs: token?.expiresAtMs, begunAt };
      this.#assertNotRevoked({ claims: request.claims, token: tokenClaims }, authentication);
      failure = 'threw';
      const answer = await Promise.race([this.#scope.run(this.#ask, this, request), timeout]);
      failure = answer === false ? 'denied' : 'invalid_claims';
      if (answer !== false) {
        const { claims, ack } = partsOf(answer ?? request.claims);
        const facts = createFacts(request, claims, token && this.#kept(source));
        // Also if it was revoked while the graph was asked.
        this.#assertNotRevoked({ claims: facts.claims, token: tokenClaims }, authentication);
        return { facts, token: tokenClaims, ack, subject, expiresAtMs: token?.expiresAtMs };
      }
    } catch (error) {
      if (error instanceof NotAdmittedError) return { failure: 'denied', subject: undefined };
      let kind = '';
      if (error instanceof TokenProblem) {
        ({ refusal: failure, kind } = error);
        subject ??= error.subject;
      }
      this.#logWindow.run(`authenticate ${failure} ${kind}`, (suppressed) =>
        log.warn(
          { err: loggedError(error), reason: failure, connection: source.id, suppressed },
          `authenticate failed; ${consequence}`,
        ),
      );
    } finally {
      clearTimeout(timer);
    }
    onFailure(failure);
    return { failure, subject };
  }

  /** What a connection keeps of its request once its token is verified. */
  #kept(source: RequestSource): RequestSource {
    const { isForwarded, cookie } = this.#options.tokens!;
    return isForwarded ? source : withoutToken(source, cookie);
  }

  /** undefined: there is no token, and none is needed. @throws TokenProblem */
  async #verify(source: RequestSource): Promise<VerifiedToken | undefined> {
    const { tokens } = this.#options;
    if (!tokens) return undefined;
    const token = tokenOf(source, tokens.cookie);
    if (token !== undefined) return tokens.verifier.verify(token);
    if (tokens.isRequired)
      throw new TokenProblem('token_missing', 'no token was sent; a header Authorization begins with "Bearer "');
    return undefined;
  }

  /** @throws TokenProblem */
  #assertNotRevoked(known: KnownClaims, authentication: Authentication): void {
    if (this.#options.revocations?.refuses(known, authentication))
      throw new TokenProblem('token_revoked', 'a revocation applies to it');
  }

  async #ask(request: ConnectionRequest) {
    for (;;) {
      const graphs = this.#graphs;
      const answer = await this.#options.authenticate?.(request);
      if (graphs === this.#graphs) return answer;
    }
  }
}

/** A refused token says all in its message: a stack is for what the graph has thrown. */
function loggedError(error: unknown): unknown {
  return error instanceof TokenProblem ? { message: error.message } : error;
}

/** What `authenticate` returned: the claims, or an object of the claims and the payload of `connection_ack`. */
function partsOf(answer: object): Acknowledgement {
  const isBoth =
    Object.hasOwn(answer, 'claims') && Object.keys(answer).every((key) => key === 'claims' || key === 'ack');
  return isBoth ? (answer as Acknowledgement) : { claims: answer as Claims };
}
