import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decodeProtectedHeader, flattenedVerify } from 'jose';
import { RemoteKeySet } from '../../../src/gateway/identity/remote-key-set.ts';
import type { RemoteKeySetOptions } from '../../../src/gateway/identity/remote-key-set.ts';
import { waitFor } from '../../support/wait-for.ts';
import { IdentityProvider } from './identity-provider.ts';

async function stage(t: TestContext, options: Partial<RemoteKeySetOptions> = {}) {
  const provider = await IdentityProvider.start(t);
  const failures: string[] = [];
  const set = new RemoteKeySet({
    url: provider.url,
    onFailure: ({ message }) => void failures.push(message),
    ...options,
  });
  t.after(() => set.close());
  const verify = async (token: string) => {
    const [head, payload, signature] = token.split('.') as [string, string, string];
    await flattenedVerify({ protected: head, payload, signature }, set.keyOf as never);
    return decodeProtectedHeader(token).kid;
  };
  return { provider, set, failures, verify };
}

const refusedAs = (refusal: string) => (error: unknown) => (error as { refusal?: string }).refusal === refusal;

describe('RemoteKeySet', () => {
  it('fetches the keys once for many tokens', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    assert.ok(set.hasKeys && set.isAvailable);
    const token = await provider.sign();
    await Promise.all(Array.from({ length: 50 }, () => verify(token)));
    assert.equal(provider.fetches, 1);
  });

  it('fetches again for a key that is new, once for all tokens that it signed', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    const old = await provider.sign();
    await provider.rotate();
    const token = await provider.sign();
    assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => verify(token))), Array(50).fill('key-2'));
    assert.equal(provider.fetches, 2);
    assert.equal(await verify(old), 'key-1');
  });

  it('fetches once for 250 unknown keys, and for each of them only once (S-13)', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    const tokens = await Promise.all(
      Array.from({ length: 250 }, (_, i) => provider.sign({}, { kid: i === 0 ? '../../etc/passwd' : `unknown-${i}` })),
    );
    await Promise.all(tokens.map((token) => assert.rejects(verify(token), { code: 'ERR_JWKS_NO_MATCHING_KEY' })));
    await Promise.all(tokens.map((token) => assert.rejects(verify(token), { code: 'ERR_JWKS_NO_MATCHING_KEY' })));
    assert.equal(provider.fetches, 2);
  });

  it('fetches ever more seldom for keys that are not found, and finds a new key once it may fetch (S-13)', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    let skippedMs = 0;
    const now = performance.now.bind(performance);
    const clock = mock.method(performance, 'now', () => now() + skippedMs);
    t.after(() => clock.mock.restore());
    // In each half second of a minute a token with another unknown key.
    for (let i = 0; i < 120; i++) {
      await assert.rejects(verify(await provider.sign({}, { kid: `unknown-${i}` })));
      skippedMs += 500;
    }
    assert.ok(provider.fetches <= 8, String(provider.fetches));
    await provider.rotate();
    const token = await provider.sign();
    await assert.rejects(verify(token), refusedAs('keys_unavailable'));
    skippedMs += 30_000;
    assert.equal(await verify(token), 'key-2');
    await provider.rotate();
    assert.equal(await verify(await provider.sign()), 'key-3', 'a rotation ends the cooldown');
  });

  it('fetches ever more seldom for unknown keys while the URL does not answer', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    provider.answer = (response) => void response.destroy();
    let skippedMs = 0;
    const now = performance.now.bind(performance);
    const clock = mock.method(performance, 'now', () => now() + skippedMs);
    t.after(() => clock.mock.restore());
    for (let i = 0; i < 60; i++) {
      await assert.rejects(verify(await provider.sign({}, { kid: `unknown-${i}` })), refusedAs('keys_unavailable'));
      skippedMs += 1000;
    }
    assert.ok(provider.fetches < 20, String(provider.fetches));
  });

  it('refuses a token at once while 250 others wait for a fetch, unless its key is known', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    const { answer } = provider;
    const held: (() => void)[] = [];
    provider.answer = (...args) => void held.push(() => answer(...args));
    const tokens = await Promise.all(Array.from({ length: 251 }, (_, i) => provider.sign({}, { kid: `unknown-${i}` })));
    const waiting = tokens.slice(1).map((token) => assert.rejects(verify(token), { code: 'ERR_JWKS_NO_MATCHING_KEY' }));
    await assert.rejects(verify(tokens[0]!), refusedAs('keys_unavailable'));
    assert.equal(await verify(await provider.sign()), 'key-1');
    await waitFor('the fetch', () => held.length > 0);
    held[0]!();
    await Promise.all(waiting);
    await assert.rejects(verify(tokens[0]!), (error: Error) => !error.message.includes('too many tokens'));
  });

  it('does not fetch for a key whose name is very long', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    const token = await provider.sign({}, { kid: 'k'.repeat(300) });
    await assert.rejects(verify(token), { code: 'ERR_JWKS_NO_MATCHING_KEY' });
    assert.equal(provider.fetches, 1);
  });

  it('uses the keys at hand while the URL cannot be fetched, and says which token it could not verify', async (t) => {
    const { provider, set, verify, failures } = await stage(t);
    await set.start();
    const token = await provider.sign();
    await provider.rotate();
    const rotated = await provider.sign();
    provider.answer = (response) => void response.writeHead(500).end();
    await assert.rejects(verify(rotated), refusedAs('keys_unavailable'));
    await verify(token);
    assert.deepEqual(failures, ['expected status 200, got 500']);
  });

  it('accepts a new key as soon as the URL answers again', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    await provider.rotate();
    const { answer } = provider;
    provider.answer = (response) => void response.destroy();
    const token = await provider.sign();
    await assert.rejects(verify(token), refusedAs('keys_unavailable'));
    provider.answer = answer;
    assert.equal(await verify(token), 'key-2');
  });

  it('refuses what a withdrawn key signed after the next fetch', async (t) => {
    const { provider, set, verify } = await stage(t, { refreshMs: 100 });
    await set.start();
    const token = await provider.sign();
    await provider.rotate();
    provider.withdraw();
    await waitFor(
      'the token is refused',
      () =>
        provider.fetches > 1 &&
        verify(token).then(
          () => false,
          () => true,
        ),
    );
  });

  // Two of them wait for the end of a fetch, 3 s.
  describe('whose URL does not answer with keys', { concurrency: 2 }, () => {
    const bad: readonly (readonly [what: string, answer: IdentityProvider['answer'], expected: RegExp])[] = [
      [
        'a redirect',
        (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
        /fetch failed|redirect/,
      ],
      ['no JSON', (response) => void response.end('<html>'), /JSON/],
      ['no key', (response) => void response.end('{"keys":[]}'), /at least one key/],
      ['no object', (response) => void response.end('null'), /./],
      [
        '300 KB',
        (response) => void response.end(JSON.stringify({ keys: ['k'.repeat(300_000)] })),
        /at most 262144 bytes/,
      ],
      ['no end', (response) => void response.write('{'), /timeout/],
    ];
    for (const [what, answer, expected] of bad) {
      it(`has no keys if the answer is ${what}`, async (t) => {
        const { provider, set, failures, verify } = await stage(t);
        provider.answer = answer;
        await set.start();
        assert.equal(set.hasKeys, false);
        assert.match(failures[0]!, expected);
        await assert.rejects(verify(await provider.sign()), refusedAs('keys_unavailable'));
      });
    }

    it('ends a fetch that has no end, also if garbage is collected meanwhile', async (t) => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const { provider, set, failures } = await stage(t);
      provider.answer = (response) => void response.write('{');
      const collecting = setInterval(collect, 50);
      t.after(() => clearInterval(collecting));
      await Promise.race([set.start(), waitFor('the end', () => failures.length > 0, 30_000)]);
      assert.match(failures[0]!, /timeout/);
    });
  });

  it('repeats a failed first fetch', async (t) => {
    const { provider, set } = await stage(t, { refreshMs: 50 });
    const { answer } = provider;
    provider.answer = (response) => void response.destroy();
    await set.start();
    provider.answer = answer;
    await waitFor('the keys', () => set.hasKeys);
  });

  it('does not use keys that are a day old', async (t) => {
    const { provider, set, verify } = await stage(t);
    await set.start();
    const token = await provider.sign();
    provider.answer = (response) => void response.destroy();
    const now = performance.now() + 86_400_001;
    const clock = mock.method(performance, 'now', () => now);
    t.after(() => clock.mock.restore());
    await assert.rejects(verify(token), refusedAs('keys_unavailable'));
  });

  it('fetches no more once it is closed', async (t) => {
    const { provider, set } = await stage(t, { refreshMs: 20 });
    await set.start();
    await waitFor('three fetches', () => provider.fetches > 2);
    await set.close();
    const { fetches } = provider;
    await set.start();
    assert.equal(provider.fetches, fetches);
  });
});
