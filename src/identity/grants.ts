import { isDeepStrictEqual } from 'node:util';
import type { Claims } from '../context/connection-facts.ts';

/** Claims that differ between two tokens that grant the same (RFC 7519 section 4.1). */
const OF_ONE_TOKEN = ['exp', 'iat', 'nbf', 'jti'];

/** True if the claims are equal but for when the token was issued, when it is accepted, and its id. */
export function grantsSame(one: Claims, other: Claims): boolean {
  return isDeepStrictEqual(grantsOf(one), grantsOf(other));
}

function grantsOf(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !OF_ONE_TOKEN.includes(name)));
}
