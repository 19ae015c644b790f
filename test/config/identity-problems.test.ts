import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

const JWT_JWKS_URL = 'https://issuer.test/jwks';
const JWT_SECRET = 's'.repeat(32);
const pair = generateKeyPairSync('ed25519');
const JWT_PUBLIC_KEY = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const pemOf = ({ publicKey }: { publicKey: KeyObject }) => publicKey.export({ type: 'spki', format: 'pem' }).toString();
const RSA = (modulusLength: number) => pemOf(generateKeyPairSync('rsa', { modulusLength }));
const EC = (namedCurve: string) => pemOf(generateKeyPairSync('ec', { namedCurve }));
const UNFIT = 'JWT_PUBLIC_KEY: expected RSA of 2048 bits or more, P-256, P-384, P-521 or Ed25519, got another key';
const PRIVATE_KEY = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ANY_KEY = 'JWT_JWKS_URL, JWT_SECRET, JWT_PUBLIC_KEY';
const ASYMMETRIC = 'RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519';

describe('readConfig, of tokens', () => {
  const refused: readonly (readonly [environment: Readonly<Record<string, string>>, message: string])[] = [
    [{ JWT_JWKS_URL, JWT_SECRET }, 'JWT_JWKS_URL and JWT_SECRET: expected one of them, got 2'],
    [{ JWT_ISSUER: 'a' }, `JWT_ISSUER: expected with one of ${ANY_KEY}, got none of them`],
    [{ JWT_LOCATIONS: 'subprotocol' }, `JWT_LOCATIONS: expected with one of ${ANY_KEY}, got none of them`],
    [{ AUTH: 'required' }, `AUTH=required: expected one of ${ANY_KEY}, got none`],
    [{ AUTH: 'optional' }, `AUTH=optional: expected one of ${ANY_KEY}, got none`],
    [{ AUTH: 'yes' }, 'AUTH: expected required, optional or none, got "yes"'],
    [
      { JWT_JWKS_URL: 'file:///jwks' },
      'JWT_JWKS_URL: expected http:// or https:// URLs without user and password, separated by commas, got "file:///jwks"',
    ],
    ...['https://user:secret@a/jwks', 'ftp://a/jwks?key=secret'].map(
      (url) =>
        [
          { JWT_JWKS_URL: url },
          'JWT_JWKS_URL: expected http:// or https:// URLs without user and password, separated by commas, got a value that may hold a password and is not shown',
        ] as const,
    ),
    [
      { JWT_JWKS_URL: `${JWT_JWKS_URL},https://else.test/jwks`, JWT_ISSUER: 'a' },
      'JWT_ISSUER: expected the issuer of each of the 2 JWT_JWKS_URL, in their order, got 1',
    ],
    [
      { JWT_JWKS_URL: `${JWT_JWKS_URL},https://else.test/jwks`, JWT_ISSUER: 'a,a' },
      'JWT_ISSUER: expected each issuer once with several JWT_JWKS_URL',
    ],
    [{ JWT_SECRET: 'short' }, 'JWT_SECRET: expected at least 32 bytes (RFC 7518 section 3.2), got 5'],
    [{ JWT_SECRET, JWT_ALGORITHMS: 'HS512' }, 'JWT_SECRET: expected at least 64 bytes (RFC 7518 section 3.2), got 32'],
    [
      { JWT_SECRET, JWT_ALGORITHMS: 'RS256' },
      'JWT_ALGORITHMS: expected HS256, HS384, HS512 with JWT_SECRET, got "RS256"',
    ],
    [
      { JWT_JWKS_URL, JWT_ALGORITHMS: 'HS256' },
      `JWT_ALGORITHMS: expected ${ASYMMETRIC} with JWT_JWKS_URL, got "HS256"`,
    ],
    [
      { JWT_PUBLIC_KEY, JWT_ALGORITHMS: 'none' },
      `JWT_ALGORITHMS: expected ${ASYMMETRIC} with JWT_PUBLIC_KEY, got "none"`,
    ],
    [{ JWT_PUBLIC_KEY: 'x' }, 'JWT_PUBLIC_KEY: expected a public key or certificate in PEM'],
    [
      { JWT_PUBLIC_KEY: PRIVATE_KEY },
      'JWT_PUBLIC_KEY: expected a public key, got a private one: keep it where tokens are signed',
    ],
    [{ JWT_PUBLIC_KEY: RSA(1024) }, UNFIT],
    [{ JWT_PUBLIC_KEY: EC('secp256k1') }, UNFIT],
    [{ JWT_PUBLIC_KEY: pemOf(generateKeyPairSync('x25519')) }, UNFIT],
    [
      { JWT_PUBLIC_KEY: EC('secp384r1'), JWT_ALGORITHMS: 'ES256,RS256' },
      'JWT_ALGORITHMS: expected ES384 with this JWT_PUBLIC_KEY, got "ES256,RS256"',
    ],
    ...['cookie:a b', 'cookie:', 'header:a', 'a'].map(
      (entry) =>
        [
          { JWT_SECRET, JWT_LOCATIONS: `subprotocol,${entry}` },
          `JWT_LOCATIONS: expected cookie:<name> once, subprotocol, or both, separated by commas, got ${JSON.stringify(entry)}`,
        ] as const,
    ),
    [
      { JWT_SECRET, JWT_LOCATIONS: 'cookie:a,cookie:b' },
      'JWT_LOCATIONS: expected cookie:<name> once, subprotocol, or both, separated by commas, got "cookie:b"',
    ],
    [
      { JWT_SECRET, JWT_LOCATIONS: 'cookie:a,subprotocol', ALLOWED_ORIGINS: '*' },
      'JWT_LOCATIONS: expected a cookie with the origins that may use it, got ALLOWED_ORIGINS=*: any page could act for its visitors',
    ],
  ];
  for (const [environment, message] of refused) {
    it(`refuses ${Object.keys(environment).join(' and ')} and says what was expected: ${message.slice(0, 60)}`, () => {
      assert.equal(configRefusal(environment).split('\n')[0]!.slice(0, message.length), message);
    });
  }

  const accepted: readonly Readonly<Record<string, string>>[] = [
    { JWT_JWKS_URL },
    { JWT_SECRET, JWT_ALGORITHMS: 'HS256', AUTH: 'optional' },
    { JWT_PUBLIC_KEY, AUTH: 'none' },
    { JWT_PUBLIC_KEY: RSA(2048), JWT_ALGORITHMS: 'PS512' },
    { JWT_PUBLIC_KEY: EC('prime256v1') },
    { JWT_PUBLIC_KEY: EC('secp521r1'), JWT_ALGORITHMS: 'ES256,ES512' },
    // As a file of variables has it.
    { JWT_PUBLIC_KEY: JWT_PUBLIC_KEY.replaceAll('\n', '\\n') },
    { JWT_JWKS_URL: `${JWT_JWKS_URL},https://else.test/jwks`, JWT_ISSUER: 'a,b' },
    { AUTH: 'none' },
  ];
  for (const environment of accepted) {
    it(`accepts ${JSON.stringify(environment).slice(0, 80)}`, () => assert.doesNotThrow(() => readConfig(environment)));
  }
});
