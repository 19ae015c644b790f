import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { identityWarnings } from '../../src/config/identity-warnings.ts';

const JWKS = {
  JWT_JWKS_URL: 'https://login.example.com/jwks',
  JWT_ISSUER: 'https://login.example.com',
  JWT_AUDIENCE: 'a',
};
const PRODUCTION = { NODE_ENV: 'production', EMBEDDED: 'true' };

type Settings = Readonly<Record<string, string>>;

/** The first words of each warning. */
const warningsOf = (settings: Settings, hasAuthenticate = false) =>
  identityWarnings(readConfig(settings), hasAuthenticate).map((line) => line.split(/[:;]/, 1)[0]);

describe('a pod', () => {
  const silent: readonly (readonly [what: string, settings: Settings, hasAuthenticate?: boolean])[] = [
    ['is not in production', {}],
    ['has AUTH=none', { ...PRODUCTION, AUTH: 'none' }],
    ['has AUTH=none and keys', { ...PRODUCTION, ...JWKS, JWT_ISSUER: '', AUTH: 'none' }],
    ['has a graph with authenticate', PRODUCTION, true],
    ['has keys, an issuer and an audience', { ...PRODUCTION, ...JWKS }],
    ['has claims that stand for an audience', { ...PRODUCTION, ...JWKS, JWT_AUDIENCE: '', JWT_REQUIRE: 'client_id:a' }],
  ];
  for (const [what, settings, hasAuthenticate] of silent)
    it(`warns of nothing if it ${what}`, () => assert.deepEqual(warningsOf(settings, hasAuthenticate), []));

  it('warns in production if nobody is authenticated, and says what to set', () => {
    assert.deepEqual(warningsOf(PRODUCTION), ['nobody is authenticated']);
    const [line] = identityWarnings(readConfig(PRODUCTION), false);
    for (const fix of ['JWT_JWKS_URL', 'authenticate', 'AUTH=none']) assert.ok(line!.includes(fix), fix);
  });

  it('warns if the issuer of a key set, or the audience, is not given', () => {
    assert.deepEqual(warningsOf({ ...JWKS, JWT_ISSUER: '' }), ['JWT_ISSUER is not set']);
    assert.deepEqual(warningsOf({ JWT_SECRET: 's'.repeat(32) }, true), ['JWT_AUDIENCE is not set']);
  });

  it('takes only claims that name the application, or the kind of token, for an audience', () => {
    const warningsWith = (required: string) =>
      warningsOf({ ...PRODUCTION, ...JWKS, JWT_AUDIENCE: '', JWT_REQUIRE: required });
    for (const name of ['aud', 'azp', 'appid', 'client_id', 'cid', 'scope', 'scp', 'token_use'])
      assert.deepEqual(warningsWith(`email_verified:true,${name}:a`), [], name);
    assert.deepEqual(warningsWith('email_verified:true,org:a'), ['JWT_AUDIENCE is not set']);
  });

  it('warns if keys are fetched without TLS, and does not show the query of their URL', () => {
    const [line] = identityWarnings(readConfig({ ...JWKS, JWT_JWKS_URL: 'http://a/jwks?key=secret' }), false);
    assert.match(line!, /^JWT_JWKS_URL: http:\/\/a\/jwks has no TLS/);
  });
});
