import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AdminAccess } from '../../../src/gateway/http/admin-access.ts';

const TOKEN = 't'.repeat(32);

function access(token: string, address: string) {
  const family = address.includes(':') ? 'IPv6' : 'IPv4';
  return new AdminAccess(token, () => ({ address, family, port: 1 }));
}

describe('AdminAccess with a token', () => {
  it('permits the token alone, whatever the address and the Host header', () => {
    for (const address of ['127.0.0.1', '0.0.0.0']) {
      const status = (authorization?: string) =>
        access(TOKEN, address).refusal({ headers: { host: 'a.example', authorization } })?.status;
      assert.equal(status(`Bearer ${TOKEN}`), undefined);
      assert.equal(status(`bearer  ${TOKEN}`), undefined);
      for (const wrong of [
        undefined,
        '',
        TOKEN,
        'Bearer',
        'Bearer ',
        `Bearer ${TOKEN}t`,
        `Bearer ${TOKEN} x`,
        'Basic x',
      ])
        assert.equal(status(wrong), 401, wrong);
    }
  });
});

describe('AdminAccess without a token', () => {
  it('permits a loopback address, and refuses any other by the name of the setting', () => {
    const refusal = (address: string) => access('', address).refusal({ headers: { host: 'localhost:4001' } });
    for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])
      assert.equal(refusal(address), undefined, address);
    for (const address of ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1']) {
      assert.equal(refusal(address)?.status, 403, address);
      assert.match(refusal(address)!.text, /ADMIN_TOKEN/);
      assert.equal(access('', address).isClosed, true);
    }
  });

  it('refuses a Host header that a page of a rebound domain sends', () => {
    const refusal = (host?: string) => access('', '127.0.0.1').refusal({ headers: { host } });
    for (const host of [undefined, 'localhost', 'localhost:4001', '127.0.0.1:4001', '[::1]:4001', '10.0.0.1'])
      assert.equal(refusal(host), undefined, host);
    for (const host of [
      'evil.example',
      'evil.example:4001',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '',
      '[',
      'a b',
    ])
      assert.equal(refusal(host)?.status, 403, host);
  });
});
