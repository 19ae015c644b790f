import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exportSPKI, generateKeyPair } from 'jose';
import { signWith } from './identity-provider.ts';
import { stage } from './stage.ts';

describe('a running crier with JWT_PUBLIC_KEY', () => {
  it('accepts tokens of its private key, and none that HMAC signed with the public key (S-13)', async (t) => {
    const { privateKey, publicKey } = await generateKeyPair('RS256');
    const pem = await exportSPKI(publicKey);
    const settings = { JWT_JWKS_URL: '', JWT_PUBLIC_KEY: pem.replaceAll('\n', '\\n') };
    const { post, connect, provider } = await stage(t, settings);
    const token = await signWith(privateKey, {}, { alg: 'RS256' });
    const answer = await post({ authorization: `Bearer ${token}` });
    assert.deepEqual(await answer.json(), { data: { me: 'ida' } });
    await (await connect()).init({ token });
    for (const refused of [
      await signWith(Buffer.from(pem), {}, { alg: 'HS256' }),
      await signWith(Buffer.from(settings.JWT_PUBLIC_KEY), {}, { alg: 'HS256' }),
      await provider.sign(),
    ])
      assert.equal((await post({ authorization: `Bearer ${refused}` })).status, 401);
    assert.equal(provider.fetches, 0);
  });
});
