import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Account } from '../../../loadtest/scenarios/clients/account.ts';
import type { Books } from '../../../loadtest/scenarios/clients/account.ts';
import { Presence } from '../../../loadtest/scenarios/clients/presence.ts';

const LANE = 3;
/** Record n is published at n seconds. */
const books = (from: number, to: number, unpublished: readonly number[] = []): Books => ({
  from: Object.assign([], { [LANE]: from }),
  to: Object.assign([], { [LANE]: to }),
  graceMs: 2000,
  publishedAt: (_lane, sequence) => (unpublished.includes(sequence) ? undefined : sequence * 1000),
});

function accountOf(...entries: [sequence: number, connection: number][]): Account {
  const account = new Account({ name: 'one', query: '', variables: {}, lanes: [LANE] });
  for (const [sequence, connection] of entries) account.add(LANE, sequence, connection);
  return account;
}

/** Connected from the first to the second of each pair, in seconds. */
function presenceOf(...periods: [from: number, to: number][]): Presence {
  const presence = new Presence();
  for (const [from, to] of periods) {
    presence.connecting();
    presence.ready(from * 1000);
    if (to !== Infinity) presence.closed(to * 1000);
  }
  return presence;
}

describe('Account', () => {
  it('expects what was written in the window', () => {
    const account = accountOf([1, 1], [2, 1], [3, 1], [4, 1]);
    assert.deepEqual(account.settle(books(2, 4), presenceOf([-10, Infinity])), {
      expected: 2,
      delivered: 2,
      lost: 0,
      missed: 0,
    });
  });

  it('calls lost what one connection did not get between two that it got, at any time', () => {
    const account = accountOf([1, 1], [3, 1]);
    assert.equal(account.settle(books(0, 3), presenceOf([1, 3])).lost, 1);
  });

  it('calls lost what was published while the client was connected, also when nothing came after it, or nothing at all', () => {
    assert.equal(accountOf([1, 1]).settle(books(0, 9), presenceOf([-10, Infinity])).lost, 8);
    assert.equal(accountOf().settle(books(0, 9), presenceOf([-10, Infinity])).lost, 9);
    assert.equal(accountOf([1, 1]).settle(books(0, 9), presenceOf([-10, 6])).lost, 3, 'but not just before its end');
  });

  it('calls missed, not lost, what was published between two connections', () => {
    const account = accountOf([1, 1], [2, 1], [9, 2], [10, 2]);
    const settlement = account.settle(books(0, 10), presenceOf([-10, 3], [7, Infinity]));
    assert.deepEqual(settlement, { expected: 10, delivered: 4, lost: 0, missed: 6 });
  });

  it('expects nothing from before the client was there, and everything from when it was known to be live', () => {
    const account = accountOf([9, 1]);
    assert.deepEqual(account.settle(books(0, 9), presenceOf([7, Infinity])), {
      expected: 1,
      delivered: 1,
      lost: 0,
      missed: 0,
    });
    const confirmed = presenceOf([7, Infinity]);
    confirmed.confirm(7500);
    assert.equal(account.settle(books(0, 9), confirmed).lost, 1);
  });

  it('does not call lost what may have been on its way when the client left, or while it subscribed', () => {
    const presence = presenceOf([-10, 4], [6, 9]);
    const slow = { ...books(0, 9), graceMs: 5000 };
    assert.deepEqual(accountOf().settle(slow, presence), { expected: 9, delivered: 0, lost: 0, missed: 9 });
    assert.equal(accountOf().settle(books(0, 9), presence).lost, 2);
  });

  it('calls lost what never reached Redis', () => {
    assert.equal(accountOf([1, 1], [3, 2]).settle(books(0, 3, [2]), presenceOf([0, 1], [3, Infinity])).lost, 1);
  });

  it('is live when every lane has brought something, and takes nothing of other lanes', () => {
    const account = new Account({ name: 'two', query: '', variables: {}, lanes: [1, 2] });
    assert.equal(account.add(1, 1, 1), 'new');
    assert.equal(account.isLive, false);
    assert.equal(account.add(3, 1, 1), 'foreign');
    assert.equal(account.isLive, false);
    assert.equal(account.add(2, 1, 1), 'new');
    assert.equal(account.isLive, true);
  });

  it('finds any single loss, duplicate or swap in any run, and nothing else', () => {
    const faults = fc.constantFrom('none', 'lost', 'duplicate', 'reordered');
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 50 }), fc.nat(), faults, (length, random, fault) => {
        const sequences = Array.from({ length }, (_, i) => i + 1);
        const at = random % (length - 1);
        if (fault === 'lost') sequences.splice(at, 1);
        if (fault === 'duplicate') sequences.splice(at + 1, 0, sequences[at]!);
        if (fault === 'reordered') sequences.splice(at, 2, sequences[at + 1]!, sequences[at]!);
        const account = accountOf();
        const arrivals = sequences.map((sequence) => account.add(LANE, sequence, 1));
        assert.equal(arrivals.filter((arrival) => arrival === 'duplicate').length, fault === 'duplicate' ? 1 : 0);
        assert.equal(arrivals.filter((arrival) => arrival === 'reordered').length, fault === 'reordered' ? 1 : 0);
        assert.equal(account.settle(books(0, length), presenceOf([-10, Infinity])).lost, fault === 'lost' ? 1 : 0);
      }),
    );
  });
});
