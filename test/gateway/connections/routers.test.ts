import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { TrustedProxies } from '../../../src/config/addresses/client-address.ts';
import { routerSettings } from '../../../src/config/routers.ts';
import { Routers } from '../../../src/gateway/connections/routers.ts';
import { ROUTER_LIMITS } from '../websocket/bare-gateway.ts';

/** Proxies are at 10.0.1.0/24, routers at 10.0.2.0/24. */
function stage() {
  const unknownProxies: string[] = [];
  const routers = new Routers(routerSettings(['role:router', '10.0.2.0/24']), ROUTER_LIMITS, (peer) =>
    unknownProxies.push(peer),
  );
  const proxies = new TrustedProxies(['10.0.1.0/24']);
  const isRouter = (peer: string, forwardedFor?: string) => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    const request = { headers, socket: { remoteAddress: peer } } as unknown as IncomingMessage;
    return routers.hasSent(request, proxies.addressOf(request));
  };
  return { routers, isRouter, unknownProxies };
}

describe('a network of routers', () => {
  const rows: readonly (readonly [string, boolean, string, string?])[] = [
    ['a peer in it', true, '10.0.2.7'],
    ['a peer in it, as an IPv6 socket has it', true, '::ffff:10.0.2.7'],
    ['a client in it that a trusted proxy names', true, '10.0.1.9', '10.0.2.7'],
    ['a peer elsewhere', false, '192.0.2.1'],
    ['a peer elsewhere that names a router', false, '192.0.2.1', '10.0.2.7'],
    ['a client elsewhere that has named a router to a trusted proxy', false, '10.0.1.9', '10.0.2.7, 192.0.2.1'],
    ['a client whose trusted proxy names nobody', false, '10.0.1.9'],
    ['a client of a peer in it that is no trusted proxy', false, '10.0.2.7', '192.0.2.1'],
    ['a peer in it that names a router', false, '10.0.2.7', '10.0.2.8'],
    ['a client in it behind two trusted proxies', true, '10.0.1.9', '10.0.2.7, 10.0.1.8'],
    ['a client of a proxy in it, which a trusted proxy names', false, '10.0.1.9', '192.0.2.1, 10.0.2.7'],
    ['a client of such a proxy that names it', false, '10.0.1.9', '10.0.2.7, 192.0.2.1, 10.0.2.7'],
  ];
  for (const [what, expected, ...request] of rows)
    it(`${expected ? 'makes' : 'does not make'} a router of ${what}`, () =>
      assert.equal(stage().isRouter(...request), expected));

  it('tells of a peer in it that forwards requests of others, and of nobody else', () => {
    const { isRouter, unknownProxies } = stage();
    for (const [, , ...request] of rows) isRouter(...request);
    assert.deepEqual(unknownProxies, ['10.0.2.7', '10.0.2.7', '10.0.2.7', '10.0.2.7']);
  });
});

describe('the claims of routers', () => {
  it('are looked for in a verified token', () => {
    const { routers } = stage();
    assert.ok(routers.hasToken({ role: 'router' }) && routers.hasToken({ role: ['reader', 'router'] }));
    assert.ok(![{}, { role: 'routers' }, { roles: 'router' }, undefined].some((token) => routers.hasToken(token)));
  });
});
