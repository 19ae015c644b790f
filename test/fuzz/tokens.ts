import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { CompactSign } from 'jose';
import type { JWTPayload } from 'jose';
import { TokenProblem } from '../../src/gateway/identity/token-problem.ts';
import { TokenVerifier } from '../../src/gateway/identity/token-verifier.ts';
import { AUDIENCE, ISSUER, fromNow } from '../gateway/identity/identity-provider.ts';
import type { FuzzKind } from './kind.ts';

const KEY = createSecretKey(Buffer.alloc(32, 7));
const verifier = new TokenVerifier({
  issuers: [{ names: [ISSUER], key: KEY }],
  requiredClaims: [],
  audiences: [AUDIENCE],
  algorithms: ['HS256'],
  clockToleranceMs: 60_000,
});

const [PAST, FUTURE] = [fromNow(-36_000), fromNow(36_000)];
const odd = fc.constantFrom<unknown[]>(null, '', 'x', true, -1, 1e300, [], {}, [[AUDIENCE]]);
const claims = fc.record(
  {
    exp: fc.oneof({ weight: 4, arbitrary: fc.constant(FUTURE) }, fc.constant(PAST), odd),
    nbf: fc.oneof(fc.constantFrom(PAST, FUTURE), odd),
    iss: fc.oneof({ weight: 4, arbitrary: fc.constant(ISSUER) }, odd),
    aud: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(AUDIENCE, ['x', AUDIENCE]) }, odd),
    sub: fc.oneof(fc.string({ maxLength: 5 }), odd),
    tenant: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['exp', 'iss', 'aud'] },
);

const CHARACTERS = [...'AQgw_-=.+/ e0\u00e9\u0000'];
const NONE = Buffer.from('{"alg":"none"}').toString('base64url');

/** What becomes of a token on its way: most often nothing. */
const change = fc.oneof(
  { weight: 3, arbitrary: fc.constant((token: string) => token) },
  fc.tuple(fc.nat(), fc.constantFrom(...CHARACTERS)).map(([at, character]) => (token: string) => {
    const index = at % token.length;
    return token.slice(0, index) + character + token.slice(index + 1);
  }),
  fc.nat().map((length) => (token: string) => token.slice(0, length % token.length)),
  fc.nat().map((at) => (token: string) => token.slice(0, at % token.length) + token.slice((at % token.length) + 1)),
  fc.constantFrom(
    (token: string) => `${NONE}.${token.split('.')[1]}.`,
    (token: string) => `${NONE}.${token.split('.').slice(1).join('.')}`,
    (token: string) => `${token}.${token}`,
    () => '',
  ),
);

/** True if a token of these claims is valid for ten hours around now. */
function areValid({ exp, nbf, iss, aud }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof exp === 'number' &&
    exp >= FUTURE &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= PAST)) &&
    iss === ISSUER &&
    (aud === AUDIENCE || (Array.isArray(aud) && aud.includes(AUDIENCE)))
  );
}

/** Tokens of any claims, changed on their way: accepted with exactly the claims that were signed, or refused without a part of the token. */
export const tokens: FuzzKind = {
  shortRuns: 500,
  property: () =>
    Promise.resolve(
      fc.asyncProperty(claims, change, async (signed, changed) => {
        const text = JSON.stringify(signed);
        const token = await new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'HS256' }).sign(KEY);
        const sent = changed(token);
        let accepted: JWTPayload | undefined;
        try {
          ({ claims: accepted } = await verifier.verify(sent));
        } catch (error) {
          assert.ok(error instanceof TokenProblem, String(error));
          for (const part of sent.split('.').filter(({ length }) => length > 3))
            assert.ok(!error.message.includes(part), error.message);
        }
        if (sent === token) assert.equal(accepted !== undefined, areValid(signed), text);
        if (!accepted) return;
        assert.ok(areValid(signed), text);
        assert.equal(JSON.stringify(accepted), text);
      }),
    ),
};
