import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf } from '../../../loadtest/story/figures.ts';
import { Ledger } from '../../../loadtest/story/client/ledger.ts';

const SOCKETS = [0, 1, 2];

function ledgerOf(copies: readonly (readonly number[])[]): Ledger {
  const ledger = new Ledger(copies.length, 1);
  for (const [socket, numbers] of copies.entries()) for (const copy of numbers) ledger.deliver(socket, copy);
  return ledger;
}

function faults(copies: readonly (readonly number[])[], produced: number, written = produced): string[] {
  const accounts = { ...ledgerOf(copies).imbalance([produced]), wrongSizes: 0, closed: {} };
  return faultsOf({ written, produced, accounts });
}

describe('Ledger', () => {
  it('balances when every socket got every copy once, in any order', () => {
    const ledger = ledgerOf([
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
    ]);
    const { disordered, ...balance } = ledger.imbalance([3]);
    assert.deepEqual(balance, { expected: 9, delivered: 9, unequalSockets: 0, example: undefined });
    assert.equal(disordered, 3);
    assert.equal(ledger.least(SOCKETS), 3);
  });

  it('keeps the order of each lane, and of no two lanes', () => {
    const ledger = new Ledger(1, 2);
    for (const copy of [1, 3, 0, 5, 2]) ledger.deliver(0, copy);
    assert.equal(ledger.imbalance([2, 3]).disordered, 0);
    assert.equal(ledger.imbalance([2, 3]).unequalSockets, 0);
    ledger.deliver(0, 0);
    assert.equal(ledger.imbalance([2, 3]).disordered, 1);
  });

  it('expects of each lane as many copies as were written to it', () => {
    const ledger = new Ledger(1, 3);
    for (const copy of [0, 3, 6, 1]) ledger.deliver(0, copy);
    assert.equal(ledger.imbalance([3, 1, 0]).unequalSockets, 0);
    assert.equal(ledger.imbalance([2, 1, 1]).unequalSockets, 1);
  });

  it('tells which copies all of the asked sockets have', () => {
    const ledger = ledgerOf([[0, 1, 2], [0], [0, 1]]);
    assert.equal(ledger.least(SOCKETS), 1);
    assert.equal(ledger.least([0, 2]), 2);
    assert.equal(ledger.least([]), undefined);
  });

  it('does not let a copy that came twice make up for one that did not come', () => {
    const { unequalSockets, example, delivered, expected } = ledgerOf([
      [0, 1, 2],
      [0, 0, 2],
    ]).imbalance([3]);
    assert.deepEqual({ unequalSockets, delivered, expected }, { unequalSockets: 1, delivered: 6, expected: 6 });
    assert.deepEqual(example, { socket: 1, delivered: 3 });
  });
});

describe('faultsOf', () => {
  it('has nothing to say about a flood that reached everybody', () => {
    assert.deepEqual(
      faults(
        [
          [0, 1],
          [0, 1],
        ],
        2,
      ),
      [],
    );
  });

  it('names what was lost, duplicated, or both', () => {
    assert.match(faults([[0, 1], [0]], 2)[0]!, /^lost: .* = 4 deliveries 3 came; 1 sockets differ, socket 1 got 1$/);
    assert.match(
      faults(
        [
          [0, 1],
          [0, 1, 1],
        ],
        2,
      )[0]!,
      /^duplicated: /,
    );
    assert.match(
      faults(
        [
          [0, 1],
          [0, 0],
        ],
        2,
      )[0]!,
      /^lost and duplicated: /,
    );
  });

  it('names a disorder', () => {
    assert.deepEqual(faults([[1, 0]], 2), ['1 messages came after one that was written later to their partition']);
  });

  it('names records that did not get into the topic', () => {
    assert.deepEqual(faults([[0, 1]], 2, 3), ['the writers were given 3 records, the topic has 2']);
  });

  it('names closed sockets and messages that are no results', () => {
    const accounts = { ...ledgerOf([[0]]).imbalance([1]), wrongSizes: 4, closed: { 1013: 2 } };
    assert.deepEqual(faultsOf({ written: 1, produced: 1, accounts }), [
      '4 messages of another length than a result has',
      '2 sockets were closed with 1013',
    ]);
  });
});
