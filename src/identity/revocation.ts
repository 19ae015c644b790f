import { randomBytes } from 'node:crypto';
import type { Claims } from '../context/connection-facts.ts';
import { valueAt } from '../json/value-at.ts';

/** A value that a claim must have. */
export interface ClaimEquality {
  /** Of the claim. A dot leads into an object, unless a claim has the very name. */
  readonly name: string;
  /** As text: 42 and "42" are equal. */
  readonly value: string;
}

/** From `atMs` on, identities with the claim are refused if their token was issued before. */
export interface Revocation extends ClaimEquality {
  /** In ms since 1970. */
  readonly atMs: number;
  /** When it ends, in ms since 1970. */
  readonly untilMs: number;
  readonly reason: string;
}

/** What is known of a connection or request that is compared with revocations. */
export interface Identity {
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
export function printRevocation({ name, value, atMs, untilMs, reason }: Revocation): string {
  return JSON.stringify({ name, value, atMs, untilMs, reason, id: randomBytes(6).toString('base64url') });
}

/** undefined if the text is not one that `printRevocation` returned. */
export function parseRevocation(text: string): Revocation | undefined {
  try {
    const { name, value, atMs, untilMs, reason } = JSON.parse(text) as Revocation;
    const isText = typeof name === 'string' && typeof value === 'string' && typeof reason === 'string';
    if (!isText || !Number.isFinite(atMs) || !Number.isFinite(untilMs)) return undefined;
    return { name, value, atMs, untilMs, reason };
  } catch {
    return undefined;
  }
}

/** The value of a claim as text; undefined if it has none, or an object or a list. */
export function claimText(claims: Claims, name: string): string | undefined {
  const value = Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name.split('.'));
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** True if one of the identity's claims has the value: of its token, or those that the graph returned. */
export function hasClaim({ claims, token }: Identity, { name, value }: ClaimEquality): boolean {
  return (
    claimText(claims, name) === value || (token !== undefined && token !== claims && claimText(token, name) === value)
  );
}

/**
 * True if an identity that has the revoked claim was issued before the revocation. Without `iat` nothing proves that it was issued later. A
 * token id names one token, whenever it was issued.
 */
export function isIssuedBefore({ claims, token }: Identity, { name, atMs }: Revocation): boolean {
  const { iat } = token ?? claims;
  // `iat` has whole seconds: a token of the same second may be older.
  return name === TOKEN_ID || typeof iat !== 'number' || iat <= atMs / 1000;
}
