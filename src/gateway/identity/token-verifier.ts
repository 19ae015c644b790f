import type { KeyObject } from 'node:crypto';
import { decodeJwt, errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { hasRequiredClaim } from '../../config/required-claims.ts';
import type { RequiredClaim } from '../../config/required-claims.ts';
import { TokenProblem } from './token-problem.ts';

/** Whose tokens are accepted, and their keys. */
export interface TokenIssuer {
  /** Accepted values of `iss`; empty: any. */
  readonly names: readonly string[];
  readonly key: KeyObject | JWTVerifyGetKey;
}

export interface TokenVerifierOptions {
  /** If there are several, each has one name: the `iss` of a token names the one whose keys count. */
  readonly issuers: readonly TokenIssuer[];
  /** A token must have one of them in `aud`; empty: any. */
  readonly audiences: readonly string[];
  /** A token must have all of them. */
  readonly requiredClaims: readonly RequiredClaim[];
  readonly algorithms: readonly string[];
  readonly clockToleranceMs: number;
}

export interface VerifiedToken {
  readonly claims: JWTPayload;
  /** Whom it names: its `iss` and `sub`, as JSON; undefined if it has no `sub`. */
  readonly subject: string | undefined;
  /** When it is refused from, in ms since 1970: its `exp` and the tolerance. */
  readonly expiresAtMs: number;
}

/** The last time that a `Date` can have. */
const MAX_DATE_MS = 8.64e15;

/** Verifies JSON Web Tokens (RFC 7519). A token needs `exp`: one that never expires could be withdrawn from nobody. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
  }

  /** @throws TokenProblem */
  async verify(token: string): Promise<VerifiedToken> {
    const { audiences, algorithms, clockToleranceMs } = this.#options;
    try {
      const { names, key } = this.#issuerOf(token);
      const { payload } = await jwtVerify(token, typeof key === 'function' ? key : () => key, {
        algorithms: [...algorithms],
        clockTolerance: clockToleranceMs / 1000,
        requiredClaims: ['exp'],
        ...(names.length > 0 && { issuer: [...names] }),
        ...(audiences.length > 0 && { audience: [...audiences] }),
      });
      const claims = claimsOf(token, payload);
      this.#checkRequired(claims);
      return {
        claims,
        subject: subjectOf(payload),
        expiresAtMs: Math.min(payload.exp! * 1000 + clockToleranceMs, MAX_DATE_MS),
      };
    } catch (error) {
      if (error instanceof TokenProblem) throw error;
      const refusal = error instanceof errors.JWTExpired ? 'token_expired' : 'token_invalid';
      throw new TokenProblem(refusal, describe(error), { cause: error, subject: signedSubject(error) });
    }
  }

  /** An audience that has no claim `aud`, and what else tells tokens of this service from others. */
  #checkRequired(claims: JWTPayload): void {
    const missing = this.#options.requiredClaims.find((required) => !hasRequiredClaim(claims, required));
    if (!missing) return;
    const what = Object.hasOwn(claims, missing.name) ? 'unexpected' : 'missing';
    throw new TokenProblem('token_invalid', `${what} "${missing.name}" claim value (JWT_REQUIRE)`, {
      subject: subjectOf(claims),
    });
  }

  /** The issuer that a token names. It is checked with the signature. */
  #issuerOf(token: string): TokenIssuer {
    const { issuers } = this.#options;
    if (issuers.length === 1) return issuers[0]!;
    const { iss } = decodeJwt(token);
    const issuer = issuers.find(({ names }) => names.includes(iss!));
    if (!issuer) throw new TokenProblem('token_invalid', 'unexpected "iss" claim value');
    return issuer;
  }
}

/** The claims of a verified token. Numbers whose digits a double loses are texts, but for its times. */
function claimsOf(token: string, { exp, iat, nbf }: JWTPayload): JWTPayload {
  const text = new TextDecoder().decode(Buffer.from(token.split('.')[1]!, 'base64url'));
  const claims = parseExactly(text) as JWTPayload;
  for (const [name, time] of Object.entries({ exp, iat, nbf })) if (time !== undefined) claims[name] = time;
  return claims;
}

/** jose looks at the claims once the signature is verified. */
function signedSubject(error: unknown): string | undefined {
  const isAboutClaims = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
  return isAboutClaims ? subjectOf(error.payload) : undefined;
}

/** A `sub` is unique within its issuer (RFC 7519 section 4.1.2). */
function subjectOf({ iss, sub }: JWTPayload): string | undefined {
  return typeof sub === 'string' ? JSON.stringify([iss, sub]) : undefined;
}

const NO_TOKEN = 'it is no JSON Web Token (RFC 7519): three texts with dots between them';

/** By code and claim of jose's error: what to correct. */
const FIXES: Readonly<Record<string, string>> = {
  'ERR_JWT_CLAIM_VALIDATION_FAILED iss': 'JWT_ISSUER must name its issuer',
  'ERR_JWT_CLAIM_VALIDATION_FAILED aud': 'JWT_AUDIENCE must name its audience',
  'ERR_JWT_CLAIM_VALIDATION_FAILED exp': 'give it exp: crier accepts no token that never expires',
  'ERR_JWT_CLAIM_VALIDATION_FAILED nbf': 'it is not valid yet: compare the clocks',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED:
    'it is signed with another key than that of JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL',
  ERR_JOSE_ALG_NOT_ALLOWED: 'JWT_ALGORITHMS must name its algorithm',
  ERR_JWS_INVALID: NO_TOKEN,
  ERR_JWT_INVALID: NO_TOKEN,
};

/** Messages of jose name claims and headers, and show none of their values. */
function describe(error: unknown): string {
  if (!(error instanceof errors.JOSEError)) return 'not a token that its key can verify';
  const claim = error instanceof errors.JWTClaimValidationFailed ? ` ${error.claim}` : '';
  const fix = FIXES[`${error.code}${claim}`];
  return fix === undefined ? error.message : `${error.message}; ${fix}`;
}
