import type { KeyObject } from 'node:crypto';

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

/** RFC 7518 section 3.3. */
const MIN_RSA_BITS = 2048;

const OF_CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/** The algorithms whose signatures a public key can verify. None: it has another purpose, or is too short. */
export function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): string[] {
  const { modulusLength = 0, namedCurve = '' } = details;
  if (type === 'rsa' && modulusLength >= MIN_RSA_BITS) return ASYMMETRIC.filter((name) => /^[RP]S/.test(name));
  if (type === 'ec') return [OF_CURVES[namedCurve] ?? []].flat();
  return type === 'ed25519' ? ['EdDSA', 'Ed25519'] : [];
}
