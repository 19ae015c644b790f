import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { freePorts } from '../../../stack/port.ts';
import { checkTokenKeys } from '../../../src/ops/check/token-keys-check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { IdentityProvider } from '../../gateway/identity/identity-provider.ts';

describe('crier check with JWT_JWKS_URL', () => {
  const check = async (url: string, settings: Readonly<Record<string, string>> = {}) => {
    const findings = await checkTokenKeys(readConfig({ JWT_JWKS_URL: url, ...settings }));
    return findings.map(({ status, text }) => `${status}: ${text.replace(url, '<url>')}`);
  };

  it('reports how many keys each URL has', async (t) => {
    const [one, other] = [await IdentityProvider.start(t), await IdentityProvider.start(t)];
    await other.rotate();
    assert.deepEqual(await check(one.url), ['ok: JWT_JWKS_URL: <url> has 1 key']);
    assert.deepEqual(await check(`${one.url},${other.url}`, { JWT_ISSUER: 'a,b' }), [
      `ok: JWT_JWKS_URL: ${one.url} has 1 key`,
      `ok: JWT_JWKS_URL: ${other.url} has 2 keys`,
    ]);
  });

  it('does not show the query of a URL, which may hold a key', async (t) => {
    const { url } = await IdentityProvider.start(t);
    assert.deepEqual(await check(`${url}?key=secret`), [`ok: JWT_JWKS_URL: ${url} has 1 key`]);
  });

  const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value));
  const cases: readonly (readonly [what: string, answer: (response: ServerResponse) => void, reason: RegExp])[] = [
    ['another page', (response) => void response.writeHead(404).end(), /expected status 200, got 404/],
    ['a redirection', (response) => void response.writeHead(302, { location: '/' }).end(), /redirect/],
    ['no JSON', (response) => void response.end('<html>'), /JSON/],
    ['no keys', json({ keys: [] }), /expected a key set with at least one key/],
    ['the discovery document', json({ jwks_uri: 'https://a/jwks' }), /got a discovery document: use its jwks_uri/],
  ];
  for (const [what, answer, reason] of cases) {
    it(`fails if the URL has ${what}`, async (t) => {
      const provider = await IdentityProvider.start(t);
      provider.answer = answer;
      const [line] = await check(provider.url);
      assert.match(line!, /^failed: JWT_JWKS_URL: <url> cannot be used: .+; correct the URL, or let the pod reach it$/);
      assert.match(line!, reason);
    });
  }

  it('fails if nothing listens there, and says why', async () => {
    const [port] = await freePorts(1);
    assert.match((await check(`http://127.0.0.1:${port}/jwks`))[0]!, /^failed: .*ECONNREFUSED/);
  });

  it('fetches nothing for a worker, and with AUTH=none', async (t) => {
    const provider = await IdentityProvider.start(t);
    const worker = { ROLE: 'worker', KAFKA_BROKERS: 'a:1', REDIS_URL: 'redis://a' };
    assert.deepEqual(await check(provider.url, worker), []);
    assert.deepEqual(await check(provider.url, { AUTH: 'none' }), []);
    assert.equal(provider.fetches, 0);
  });
});
