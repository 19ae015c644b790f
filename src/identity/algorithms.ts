/** Algorithms of signatures with a key pair (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export const ASYMMETRIC: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Algorithms of signatures with a shared secret, and the least bytes of each one's secret (RFC 7518 section 3.2). */
export const HMAC: ReadonlyMap<string, number> = new Map([
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
]);
