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
  const counted = { ...ledgerOf(copies).reconcile([produced]), wrongSizes: 0, closed: {} };
  return faultsOf({ written, produced, counted });
}

describe('Ledger', () => {
  it('reports no difference when every socket received every copy once, in any order', () => {
    const ledger = ledgerOf([
      [0, 1, 2],
      [2, 0, 1],
      [1, 2, 0],
    ]);
    const { outOfOrder, ...balance } = ledger.reconcile([3]);
    assert.deepEqual(balance, { expected: 9, delivered: 9, unequalSockets: 0, example: undefined });
    assert.equal(outOfOrder, 3);
    assert.equal(ledger.least(SOCKETS), 3);
  });

  it('counts a message out of order within its lane, but not between lanes', () => {
    const ledger = new Ledger(1, 2);
    for (const copy of [1, 3, 0, 5, 2]) ledger.deliver(0, copy);
    assert.equal(ledger.reconcile([2, 3]).outOfOrder, 0);
    assert.equal(ledger.reconcile([2, 3]).unequalSockets, 0);
    ledger.deliver(0, 0);
    assert.equal(ledger.reconcile([2, 3]).outOfOrder, 1);
  });

  it('expects the written number of copies per lane', () => {
    const ledger = new Ledger(1, 3);
    for (const copy of [0, 3, 6, 1]) ledger.deliver(0, copy);
    assert.equal(ledger.reconcile([3, 1, 0]).unequalSockets, 0);
    assert.equal(ledger.reconcile([2, 1, 1]).unequalSockets, 1);
  });

  it('returns the number of copies that all given sockets have received', () => {
    const ledger = ledgerOf([[0, 1, 2], [0], [0, 1]]);
    assert.equal(ledger.least(SOCKETS), 1);
    assert.equal(ledger.least([0, 2]), 2);
    assert.equal(ledger.least([]), undefined);
  });

  it('reports a difference when a duplicate makes up for a loss', () => {
    const { unequalSockets, example, delivered, expected } = ledgerOf([
      [0, 1, 2],
      [0, 0, 2],
    ]).reconcile([3]);
    assert.deepEqual({ unequalSockets, delivered, expected }, { unequalSockets: 1, delivered: 6, expected: 6 });
    assert.deepEqual(example, { socket: 1, delivered: 3 });
  });
});

describe('faultsOf', () => {
  it('returns no fault when every record reached every socket', () => {
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

  it('reports losses, duplicates, or both', () => {
    assert.match(
      faults([[0, 1], [0]], 2)[0]!,
      /^lost: .* = 4 deliveries 3 arrived; 1 sockets differ, socket 1 received 1$/,
    );
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

  it('reports messages out of order', () => {
    assert.deepEqual(faults([[1, 0]], 2), ['1 messages arrived after a later one of their partition']);
  });

  it('reports written records that are not in the topic', () => {
    assert.deepEqual(faults([[0, 1]], 2, 3), ['the writers wrote 3 records, the topic has 2']);
  });

  it('reports closed sockets and messages of a wrong length', () => {
    const counted = { ...ledgerOf([[0]]).reconcile([1]), wrongSizes: 4, closed: { 1013: 2 } };
    assert.deepEqual(faultsOf({ written: 1, produced: 1, counted }), [
      '4 messages differ in length from a result',
      '2 sockets were closed with 1013',
    ]);
  });
});
