import { isDeepStrictEqual } from 'node:util';
import { CLAIMS_OF_ONE_TOKEN } from '../../graph/context/connection-facts.ts';
import type { Claims } from '../../graph/context/connection-facts.ts';

/** True if the claims are equal but for when the token was issued, when it is accepted, and its id. */
export function grantsSame(one: Claims, other: Claims): boolean {
  return isDeepStrictEqual(grantsOf(one), grantsOf(other));
}

function grantsOf(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !CLAIMS_OF_ONE_TOKEN.includes(name)));
}
