import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { it } from 'node:test';
import { Authenticator } from '../../../src/gateway/identity/authenticator.ts';
import type { AuthenticationFailure } from '../../../src/gateway/identity/authenticator.ts';
import { printRevocation } from '../../../src/gateway/identity/revocation.ts';
import { Revocations } from '../../../src/gateway/identity/revocations.ts';
import { TokenVerifier } from '../../../src/gateway/identity/token-verifier.ts';
import { logLines } from '../../bus/log-lines.ts';
import { ISSUER, signWith } from './identity-provider.ts';

const SECRET = Buffer.from('s'.repeat(32));

it('a revoked token is refused before the graph is asked (twin: without the check it is accepted)', async () => {
  const token = await signWith(SECRET, { sub: 'ida' }, { alg: 'HS256' });
  const atMs = Date.now();
  const revocation = { name: 'sub', value: 'ida', atMs, untilMs: atMs + 60_000, reason: '' };
  const revocations = new Revocations();
  revocations.add(printRevocation(revocation), revocation);
  const issuers = [{ names: [], key: createSecretKey(SECRET) }];
  const verifier = new TokenVerifier({
    issuers,
    requiredClaims: [],
    audiences: [],
    algorithms: ['HS256'],
    clockToleranceMs: 0,
  });
  const failures: AuthenticationFailure[] = [];
  let asked = 0;
  const common = {
    authenticate: () => void asked++,
    tokens: { verifier, isRequired: true, cookie: '', isForwarded: false },
    timeoutMs: 5_000,
    log: logLines().log,
    onFailure: (failure: AuthenticationFailure) => void failures.push(failure),
  };
  const source = { id: 'c', rawHeaders: [], params: { token }, address: '' };
  assert.deepEqual(await new Authenticator({ ...common, revocations }).authenticate(source), {
    failure: 'token_revoked',
    subject: JSON.stringify([ISSUER, 'ida']),
  });
  assert.deepEqual([asked, failures], [0, ['token_revoked']]);
  const accepted = await new Authenticator(common).authenticate(source);
  assert.ok('facts' in accepted && accepted.token === accepted.facts.claims && asked === 1);
});
