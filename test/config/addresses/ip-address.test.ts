import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressIn, addressKey, plainAddress } from '../../../src/config/addresses/ip-address.ts';

describe('plainAddress', () => {
  for (const [address, plain] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.255', '192.0.2.255'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:c000:201', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:0:192.0.2.1', '::ffff:0:192.0.2.1'],
    ['::1', '::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['', ''],
  ] as const) {
    it(`returns ${plain || 'nothing'} for ${address || 'nothing'}`, () => assert.equal(plainAddress(address), plain));
  }
});

describe('addressKey', () => {
  it('is the same for all addresses of one /64, and for no other', () => {
    const keys = [
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff:ffff:ffff:ffff',
      '2001:DB8::1:0:0:0:1',
      '2001:db8:0:1::192.0.2.1',
    ];
    for (const address of keys) assert.equal(addressKey(address), '2001:db8:0:1::/64', address);
    assert.equal(addressKey('2001:db8::1'), '2001:db8:0:0::/64');
    assert.equal(addressKey('1:2:3:4:5:6:7:8'), '1:2:3:4::/64');
    assert.equal(addressKey('1:2:3:4:5:6:192.0.2.1'), '1:2:3:4::/64');
    assert.equal(addressKey('::1'), '0:0:0:0::/64');
    assert.equal(addressKey('::'), '0:0:0:0::/64');
  });

  it('is the address itself for IPv4, and for a socket that is lost', () => {
    assert.equal(addressKey('192.0.2.1'), '192.0.2.1');
    assert.equal(addressKey(''), '');
  });
});

describe('addressIn', () => {
  for (const [entry, address] of [
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1 ', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
  ] as const) {
    it(`reads ${JSON.stringify(entry)}`, () => assert.equal(addressIn(entry), address));
  }

  for (const entry of [
    '',
    'unknown',
    '_hidden',
    '192.0.2',
    '192.0.2.1:',
    '192.0.2.1:http',
    '[192.0.2.1',
    '[]:80',
    '[x]',
    'a.example',
  ]) {
    it(`finds none in ${JSON.stringify(entry)}`, () => assert.equal(addressIn(entry), undefined));
  }
});
