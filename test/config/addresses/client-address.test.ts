import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAddressRange } from '../../../src/config/addresses/address-ranges.ts';
import { TrustedProxies } from '../../../src/config/addresses/client-address.ts';

const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

describe('TrustedProxies', () => {
  const cases: readonly (readonly [what: string, peer: string, forwardedFor: string | undefined, client: string])[] = [
    ['the peer if there is no header', '10.0.0.1', undefined, '10.0.0.1'],
    ['the peer if it is no trusted proxy (S-10)', '203.0.113.5', '1.2.3.4', '203.0.113.5'],
    ['what a trusted proxy appended (twin of S-10)', '10.0.0.1', '203.0.113.5', '203.0.113.5'],
    ['what the proxy appended, not what the client wrote before it', '10.0.0.1', '1.2.3.4, 203.0.113.5', '203.0.113.5'],
    ['the first that is no proxy, behind several', '192.0.2.7', '1.2.3.4, 203.0.113.5, 10.1.1.1', '203.0.113.5'],
    ['the farthest of proxies alone', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['an address of IPv6', 'fd00::1', '2001:db8::5', '2001:db8::5'],
    ['a mapped proxy', '::ffff:10.0.0.1', '203.0.113.5', '203.0.113.5'],
    ['an IPv4 address that is mapped to IPv6', '10.0.0.1', '::ffff:203.0.113.5', '203.0.113.5'],
    ['a peer of IPv4 that is mapped to IPv6', '::ffff:203.0.113.5', undefined, '203.0.113.5'],
    ['an address with a port', '10.0.0.1', '203.0.113.5:4711', '203.0.113.5'],
    [
      'an address with brackets and a port, behind several',
      'fd00::1',
      '[2001:db8::5]:4711,[fd00::2]:80',
      '2001:db8::5',
    ],
    ['the proxy before something that is no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the last address before something that is none', '10.0.0.1', 'unknown, 10.0.0.2', '10.0.0.2'],
    ['the peer if the header is empty', '10.0.0.1', '', '10.0.0.1'],
    ['nothing of a socket that is lost', '', '1.2.3.4', ''],
  ];
  for (const [what, peer, forwardedFor, client] of cases) {
    it(`finds ${what}`, () => assert.equal(proxies.clientOf(peer, forwardedFor), client));
  }

  it('tells which proxy does not say who its client is', () => {
    const problems: string[] = [];
    const observed = new TrustedProxies(['10.0.0.0/8'], (problem, peer) => problems.push(`${problem} ${peer}`));
    observed.clientOf('::ffff:10.0.0.1', undefined);
    observed.clientOf('10.0.0.1', '203.0.113.5, unknown');
    observed.clientOf('10.0.0.1', 'unknown, 10.0.0.2');
    assert.deepEqual(problems, ['missing 10.0.0.1', 'unreadable 10.0.0.1', 'unreadable 10.0.0.2']);
    observed.clientOf('203.0.113.5', undefined);
    observed.clientOf('203.0.113.5', 'unknown');
    observed.clientOf('10.0.0.1', 'unknown, 203.0.113.5');
    assert.equal(problems.length, 3, 'nobody believes what a client writes');
  });

  it('trusts nobody without ranges', () => {
    assert.equal(new TrustedProxies([]).clientOf('127.0.0.1', '1.2.3.4'), '127.0.0.1');
  });
});

describe('isAddressRange', () => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0']) {
    it(`accepts ${text}`, () => assert.ok(isAddressRange(text)));
  }
  for (const text of [
    '',
    'loopback',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
    '10.0.0.0/-1',
    'host:80',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.ok(!isAddressRange(text)));
  }
});
