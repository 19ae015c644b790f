import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { routerSettings } from '../../src/config/routers.ts';
import { configRefusal } from '../support/config-refusal.ts';

const JWT_SECRET = 'a secret of this test, of 32 bytes';

describe('ROUTERS', () => {
  it('names routers by claims and by addresses, of IPv6, too', () => {
    assert.deepEqual(routerSettings(['role:router|gateway', '10.0.0.0/8', 'fd00::/8', '::1']), {
      networks: ['10.0.0.0/8', 'fd00::/8', '::1'],
      claims: [{ name: 'role', values: ['router', 'gateway'] }],
    });
  });

  for (const entry of ['router', '10.0.0.0/33', 'role:', 'a:b:c'])
    it(`refuses ${entry}`, () => {
      const refused = configRefusal({ JWT_SECRET, ROUTERS: `role:router,${entry}` });
      assert.match(refused, /^ROUTERS: expected claims of tokens such as role:router, or addresses or ranges such as /);
      assert.ok(refused.endsWith(`got ${JSON.stringify(entry)}`), refused);
    });

  it('refuses a claim that no token could have', () => {
    const expected =
      'ROUTERS: a claim is expected with one of JWT_JWKS_URL, JWT_SECRET, JWT_PUBLIC_KEY, got none of them';
    assert.equal(configRefusal({ ROUTERS: 'role:router' }), expected);
    assert.equal(configRefusal({ ROUTERS: 'role:router', JWT_SECRET, AUTH: 'none' }), expected);
  });

  for (const [routers, proxies] of [
    ['10.0.0.0/8', '10.1.0.0/16'],
    ['10.1.2.3', '192.0.2.0/24,10.0.0.0/8'],
    ['::/0', 'fd00::1'],
  ] as const)
    it(`refuses ${routers} beside proxies at ${proxies}, whose clients would be routers`, () => {
      const refused = configRefusal({ ROUTERS: `198.51.100.7,${routers}`, TRUSTED_PROXIES: proxies });
      const expected = `ROUTERS: expected addresses that TRUSTED_PROXIES does not have, got ${JSON.stringify(routers)}: a proxy's clients would be routers`;
      assert.equal(refused, expected);
    });
});
