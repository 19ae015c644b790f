import { randomBytes } from 'node:crypto';
import { textOf } from '../../graph/compared-text.ts';
import type { Claims } from '../../graph/context/connection-facts.ts';
import { valueAt } from '../../base/json/value-at.ts';

/** A value that a claim must have. */
export interface ClaimEquality {
  /** Of the claim. A dot leads into an object, unless a claim has the very name. */
  readonly name: string;
  /** As text: 42 and "42" are equal. */
  readonly value: string;
  /** The `iss` that the token must have, too. Default: any. */
  readonly issuer?: string;
}

/** From `atMs` on, tokens with the claim are refused if they were issued before. */
export interface Revocation extends ClaimEquality {
  /** In ms since 1970. */
  readonly atMs: number;
  /** When it ends, in ms since 1970. */
  readonly untilMs: number;
  readonly reason: string;
}

/** The claims of a connection or request that are compared with revocations. */
export interface KnownClaims {
  readonly claims: Claims;
  /** Claims of its token; undefined: it has none. The graph may have replaced them by `claims`. */
  readonly token: Claims | undefined;
}

export const MAX_NAME_LENGTH = 128;
export const MAX_VALUE_LENGTH = 512;
export const MAX_REASON_LENGTH = 200;

/** Claims that name one token. */
const TOKEN_ID = 'jti';

/** The text of a revocation, for other pods. Two revocations never have the same. */
export function printRevocation({ name, value, issuer, atMs, untilMs, reason }: Revocation): string {
  return JSON.stringify({ name, value, issuer, atMs, untilMs, reason, id: randomBytes(6).toString('base64url') });
}

/** undefined if the text is not one that `printRevocation` returned. */
export function parseRevocation(text: string): Revocation | undefined {
  try {
    const { name, value, issuer, atMs, untilMs, reason } = JSON.parse(text) as Revocation;
    const isText = [name, value, issuer ?? '', reason].every((member) => typeof member === 'string');
    if (!isText || !Number.isFinite(atMs) || !Number.isFinite(untilMs)) return undefined;
    return { name, value, ...(issuer !== undefined && { issuer }), atMs, untilMs, reason };
  } catch {
    return undefined;
  }
}

/** The value of a claim as text; undefined if it has none, or an object or a list. */
export function claimText(claims: Claims, name: string): string | undefined {
  return textOf(Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split('.')));
}

/** True if the claim of the token has the value, or the one that the graph returned. */
export function hasClaim({ claims, token = claims }: KnownClaims, { name, value, issuer }: ClaimEquality): boolean {
  if (issuer !== undefined && token['iss'] !== issuer) return false;
  return claimText(claims, name) === value || (token !== claims && claimText(token, name) === value);
}

/** True if the revocation applies: to claims that have the revoked one, and whose token was not issued later. */
export function isRevoked(known: KnownClaims, revocation: Revocation): boolean {
  return hasClaim(known, revocation) && isIssuedBefore(known, revocation);
}

/** Without `iat` nothing proves that a token was issued later. A token id names one token, whenever it was issued. */
function isIssuedBefore({ claims, token }: KnownClaims, { name, atMs }: Revocation): boolean {
  const { iat } = token ?? claims;
  // `iat` has whole seconds: a token of the same second may be older.
  return name === TOKEN_ID || typeof iat !== 'number' || iat <= atMs / 1000;
}
