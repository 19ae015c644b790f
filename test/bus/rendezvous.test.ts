import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';
import { fnv1a, ownerOf } from '../../src/bus/rendezvous.ts';

const names = ['redis-0:6379', 'redis-1:6379', 'redis-2:6379', 'redis-3:6379'];
const hashes = names.map(fnv1a);
const channels = Array.from({ length: 20_000 }, (_, i) => `crier:auction-events{auction.auction_id="${i}"}`);

it('is FNV-1a, so that other programs can find the server of a channel', () => {
  assert.equal(fnv1a(''), 0x811c9dc5);
  assert.equal(fnv1a('a'), 0xe40c292c);
  assert.equal(fnv1a('foobar'), 0xbf9cf968);
});

it('maps the same channels to the same servers in every release', () => {
  const owners = channels.slice(0, 20).map((channel) => ownerOf(channel, hashes));
  assert.deepEqual(owners, [0, 3, 0, 2, 1, 0, 3, 0, 1, 3, 3, 3, 2, 3, 0, 1, 0, 0, 1, 0]);
  const all = channels.map((channel) => ownerOf(channel, hashes)).join('');
  assert.equal(createHash('sha1').update(all).digest('hex'), '220d966447105ca6b1f6253bc740adccdbbc42e5');
});

it('spreads channels evenly', () => {
  const counts = names.map(() => 0);
  for (const channel of channels) counts[ownerOf(channel, hashes)]!++;
  for (const count of counts) assert.ok(Math.abs(count - 5_000) < 300, counts.join());
});

it('agrees whatever the order of the servers', () => {
  const reversed = [...names].reverse();
  for (const channel of channels) {
    assert.equal(reversed[ownerOf(channel, reversed.map(fnv1a))], names[ownerOf(channel, hashes)]);
  }
});

it('moves only the channels of a server that is removed', () => {
  for (const channel of channels) {
    const before = names[ownerOf(channel, hashes)]!;
    const now = names[ownerOf(channel, hashes.slice(0, 3))]!;
    if (before !== names[3]) assert.equal(now, before);
  }
});

it('maps every channel to the only server', () => {
  assert.equal(ownerOf('anything', [42]), 0);
});
