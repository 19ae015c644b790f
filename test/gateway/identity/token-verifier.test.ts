import assert from 'node:assert/strict';
import { createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { SignJWT, UnsecuredJWT, generateKeyPair } from 'jose';
import type { CryptoKey } from 'jose';
import { ASYMMETRIC } from '../../../src/config/algorithms.ts';
import type { TokenRefusal } from '../../../src/gateway/identity/token-problem.ts';
import { TokenProblem } from '../../../src/gateway/identity/token-problem.ts';
import { TokenVerifier } from '../../../src/gateway/identity/token-verifier.ts';
import type { TokenVerifierOptions } from '../../../src/gateway/identity/token-verifier.ts';
import { AUDIENCE, ISSUER, fromNow, signWith } from './identity-provider.ts';

const TOLERANCE_MS = 60_000;

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();

function verifier(options: Partial<TokenVerifierOptions> = {}): TokenVerifier {
  return new TokenVerifier({
    issuers: [{ names: [ISSUER], key: createPublicKey(PEM) }],
    audiences: [AUDIENCE],
    requiredClaims: [],
    algorithms: ASYMMETRIC,
    clockToleranceMs: TOLERANCE_MS,
    ...options,
  });
}

function refused(token: string, refusal: TokenRefusal, message: RegExp, by = verifier()): Promise<void> {
  return assert.rejects(by.verify(token), (error) => {
    assert.ok(error instanceof TokenProblem);
    assert.equal(error.refusal, refusal);
    assert.match(error.message, message);
    return true;
  });
}

const sign = (claims: object = {}) => signWith(privateKey as unknown as CryptoKey, claims as never, { alg: 'RS256' });

describe('TokenVerifier', () => {
  it('returns the claims, and when the token is refused from', async () => {
    const exp = fromNow(100);
    const { claims, expiresAtMs } = await verifier().verify(await sign({ exp, tenant: 'north' }));
    assert.deepEqual([claims.sub, claims['tenant']], ['ida', 'north']);
    assert.equal(expiresAtMs, exp * 1000 + TOLERANCE_MS);
  });

  it('accepts clocks that differ by less than the tolerance (twin of S-14)', async () => {
    await verifier().verify(await sign({ exp: fromNow(-50) }));
    await verifier().verify(await sign({ nbf: fromNow(50) }));
  });

  it('accepts any issuer and audience if none is set (twin of S-14)', async () => {
    const open = verifier({ issuers: [{ names: [], key: createPublicKey(PEM) }], audiences: [] });
    await open.verify(await sign({ iss: 'https://else.test', aud: 'else' }));
  });

  it('refuses a token that expired a second ago, without a tolerance (S-14)', async () =>
    refused(await sign({ exp: fromNow(-1) }), 'token_expired', /"exp"/, verifier({ clockToleranceMs: 0 })));

  const claims: readonly (readonly [what: string, claims: object, refusal: TokenRefusal, message: RegExp])[] = [
    ['that expired before the tolerance', { exp: fromNow(-61) }, 'token_expired', /"exp"/],
    ['that is not valid yet', { nbf: fromNow(600) }, 'token_invalid', /"nbf"/],
    ['of another audience', { aud: 'else' }, 'token_invalid', /"aud"/],
    ['without an audience', { aud: undefined }, 'token_invalid', /"aud"/],
    ['of another issuer', { iss: 'https://else.test' }, 'token_invalid', /"iss"/],
    ['that never expires', { exp: undefined }, 'token_invalid', /"exp"/],
    ['that expires at no number', { exp: 'never' }, 'token_invalid', /"exp"/],
  ];
  for (const [what, given, refusal, message] of claims) {
    it(`refuses a token ${what} (S-14)`, async () => refused(await sign(given), refusal, message));
  }

  describe('that requires claims', () => {
    const requiredClaims = [
      { name: 'client_id', values: ['app1', 'app2'] },
      { name: 'token_use', values: ['access'] },
    ];
    // An access token of Cognito has no `aud`.
    const cognito = verifier({ audiences: [], requiredClaims });
    const access = { aud: undefined, client_id: 'app1', token_use: 'access', scope: 'orders/read' };

    it('accepts a token that has one of the values of each', async () => {
      await cognito.verify(await sign(access));
      await cognito.verify(await sign({ ...access, client_id: 'app2' }));
    });

    const refusedOnes: readonly (readonly [what: string, claims: object, message: RegExp])[] = [
      ['of another app', { client_id: 'app3' }, /^unexpected "client_id" claim value \(JWT_REQUIRE\)$/],
      ['of nobody', { client_id: undefined }, /^missing "client_id" claim value \(JWT_REQUIRE\)$/],
      ['for its client (an id token)', { token_use: 'id' }, /^unexpected "token_use"/],
      ['whose claim only holds a value', { client_id: 'app1x' }, /^unexpected "client_id"/],
      ['whose claim is an object', { client_id: { app1: 'app1' } }, /^unexpected "client_id"/],
    ];
    for (const [what, claims, message] of refusedOnes)
      it(`refuses a token ${what}`, async () =>
        refused(await sign({ ...access, ...claims }), 'token_invalid', message, cognito));
  });

  it('says whom a refused token names only if its signature is valid', async () => {
    const subjectOf = async (token: string) => {
      const problem: unknown = await verifier()
        .verify(token)
        .catch((error: unknown) => error);
      assert.ok(problem instanceof TokenProblem);
      return problem.subject;
    };
    const ida = JSON.stringify([ISSUER, 'ida']);
    assert.equal(await subjectOf(await sign({ exp: fromNow(-61) })), ida);
    assert.equal(await subjectOf(await sign({ aud: 'else' })), ida);
    const { privateKey: foreign } = await generateKeyPair('RS256');
    assert.equal(await subjectOf(await signWith(foreign, { exp: fromNow(-61) }, { alg: 'RS256' })), undefined);
    assert.equal(await subjectOf('x'), undefined);
  });

  describe('with a forged signature (S-13)', () => {
    let other: CryptoKey;
    before(async () => void ({ privateKey: other } = await generateKeyPair('RS256')));

    it('refuses alg "none"', async () => {
      const unsigned = new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, exp: fromNow(100) }).encode();
      await refused(unsigned, 'token_invalid', /./);
    });

    it('refuses HMAC with the public key as its secret', async () => {
      const forged = await signWith(new TextEncoder().encode(PEM), {}, { alg: 'HS256' });
      await refused(forged, 'token_invalid', /"alg"/);
      // Also when the operator allows it by mistake: the key is none of HMAC.
      await refused(forged, 'token_invalid', /./, verifier({ algorithms: ['HS256', 'RS256'] }));
    });

    it('refuses the signature of another key', async () => {
      await refused(await signWith(other, {}, { alg: 'RS256' }), 'token_invalid', /signature/);
    });

    it('refuses claims that were changed', async () => {
      const [head, , signature] = (await sign()).split('.');
      const body = Buffer.from(JSON.stringify({ iss: ISSUER, aud: AUDIENCE, sub: 'root', exp: fromNow(100) }));
      await refused(`${head}.${body.toString('base64url')}.${signature}`, 'token_invalid', /signature/);
    });

    it('refuses a header that must be understood and is not', async () => {
      const token = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, exp: fromNow(100) })
        .setProtectedHeader({ alg: 'RS256', crit: ['x'], x: 1 })
        .sign(privateKey, { crit: { x: true } });
      await refused(token, 'token_invalid', /crit|Extension/i);
    });

    for (const text of ['', 'x', 'a.b.c', '..', `${'a'.repeat(60_000)}.b.c`, 'ä.ö.ü']) {
      it(`refuses ${JSON.stringify(text.slice(0, 10))}, ${text.length} characters`, () =>
        refused(text, 'token_invalid', /./));
    }
  });

  it('has no part of the token in its message', async () => {
    const token = await sign({ iss: 'https://secret.test', aud: 'secret' });
    await assert.rejects(verifier().verify(token), (error: Error) => !/secret/.test(error.message));
  });

  it('accepts a shared secret', async () => {
    const secret = Buffer.alloc(32, 's');
    const shared = verifier({ issuers: [{ names: [ISSUER], key: createSecretKey(secret) }], algorithms: ['HS256'] });
    await shared.verify(await signWith(secret, {}, { alg: 'HS256' }));
    await refused(await sign(), 'token_invalid', /"alg"/, shared);
  });

  it('accepts from each of several issuers only what its own key signed', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const both = verifier({
      issuers: [
        { names: [ISSUER], key: publicKey },
        { names: ['https://else.test'], key: other.publicKey },
      ],
    });
    const header = { alg: 'RS256' };
    const theirs = (claims: object) => signWith(other.privateKey as unknown as CryptoKey, claims as never, header);
    await both.verify(await sign());
    await both.verify(await theirs({ iss: 'https://else.test' }));
    await refused(await theirs({}), 'token_invalid', /signature/, both);
    await refused(await sign({ iss: 'https://third.test' }), 'token_invalid', /"iss"/, both);
    await refused(await sign({ iss: undefined }), 'token_invalid', /"iss"/, both);
    await refused('a.b.c', 'token_invalid', /./, both);
  });
});
