import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Account } from '../../../loadtest/market/clients/account.ts';
import type { WrittenRecords } from '../../../loadtest/market/clients/account.ts';
import { Presence } from '../../../loadtest/market/clients/presence.ts';

const LANE = 3;
/** Record n is published at n seconds. */
const written = (from: number, to: number, unpublished: readonly number[] = []): WrittenRecords => ({
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

/** Connected in each interval [from, to], in seconds. */
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
  it('expects the records written in the window', () => {
    const account = accountOf([1, 1], [2, 1], [3, 1], [4, 1]);
    assert.deepEqual(account.settle(written(2, 4), presenceOf([-10, Infinity])), {
      expected: 2,
      delivered: 2,
      lost: 0,
      missed: 0,
    });
  });

  it('counts a record as lost when one connection received records before and after it', () => {
    const account = accountOf([1, 1], [3, 1]);
    assert.equal(account.settle(written(0, 3), presenceOf([1, 3])).lost, 1);
  });

  it('counts a record as lost when the client was connected at its publish, even if nothing arrived afterwards', () => {
    assert.equal(accountOf([1, 1]).settle(written(0, 9), presenceOf([-10, Infinity])).lost, 8);
    assert.equal(accountOf().settle(written(0, 9), presenceOf([-10, Infinity])).lost, 9);
    assert.equal(accountOf([1, 1]).settle(written(0, 9), presenceOf([-10, 6])).lost, 3, 'but not just before its end');
  });

  it('counts a record as missed when it was published between two connections', () => {
    const account = accountOf([1, 1], [2, 1], [9, 2], [10, 2]);
    const settlement = account.settle(written(0, 10), presenceOf([-10, 3], [7, Infinity]));
    assert.deepEqual(settlement, { expected: 10, delivered: 4, lost: 0, missed: 6 });
  });

  it('expects no record before the first connection and every record once the subscription is live', () => {
    const account = accountOf([9, 1]);
    assert.deepEqual(account.settle(written(0, 9), presenceOf([7, Infinity])), {
      expected: 1,
      delivered: 1,
      lost: 0,
      missed: 0,
    });
    const confirmed = presenceOf([7, Infinity]);
    confirmed.confirm(7500);
    assert.equal(account.settle(written(0, 9), confirmed).lost, 1);
  });

  it('does not count a record as lost when it was in flight during a close or a subscribe', () => {
    const presence = presenceOf([-10, 4], [6, 9]);
    const slow = { ...written(0, 9), graceMs: 5000 };
    assert.deepEqual(accountOf().settle(slow, presence), { expected: 9, delivered: 0, lost: 0, missed: 9 });
    assert.equal(accountOf().settle(written(0, 9), presence).lost, 2);
  });

  it('counts a record as lost when it never reached Redis', () => {
    assert.equal(accountOf([1, 1], [3, 2]).settle(written(0, 3, [2]), presenceOf([0, 1], [3, Infinity])).lost, 1);
  });

  it('is live after a record of every lane, and rejects records of other lanes', () => {
    const account = new Account({ name: 'two', query: '', variables: {}, lanes: [1, 2] });
    assert.equal(account.add(1, 1, 1), 'new');
    assert.equal(account.isLive, false);
    assert.equal(account.add(3, 1, 1), 'unrequested');
    assert.equal(account.isLive, false);
    assert.equal(account.add(2, 1, 1), 'new');
    assert.equal(account.isLive, true);
  });

  it('detects any single loss, duplicate or swap, and reports nothing else', () => {
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
        assert.equal(account.settle(written(0, length), presenceOf([-10, Infinity])).lost, fault === 'lost' ? 1 : 0);
      }),
    );
  });
});
