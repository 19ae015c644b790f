import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OperationTallies } from '../../../src/graph/documents/operation-tallies.ts';
import { OperationTally } from '../../../src/graph/documents/operation-tally.ts';

/** Tallies with room for 3, and the names of those that are listed. */
function createTallies() {
  const tallies = new OperationTallies(3);
  const note = (...names: OperationTally[]) => names.forEach((tally) => tallies.note(tally, () => 'tick'));
  return { note, names: () => Array.from(tallies.entries, ([{ name }]) => name) };
}

const tally = (name: string, subscriptions = 0) => Object.assign(new OperationTally('00', name), { subscriptions });

describe('OperationTallies', () => {
  it('forgets the operation that was requested longest ago when there is no room', () => {
    const { note, names } = createTallies();
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => tally(name)) as [OperationTally, ...OperationTally[]];
    note(a, b!, c!, a, d!);
    assert.deepEqual(names(), ['c', 'a', 'd']);
  });

  it('keeps live operations before others', () => {
    const { note, names } = createTallies();
    note(tally('live', 1), tally('b'), tally('also live', 1), tally('d'), tally('e'));
    assert.deepEqual(names(), ['live', 'also live', 'e']);
  });

  it('has no more operations than its bound when a client keeps many alive', () => {
    const { note, names } = createTallies();
    note(...Array.from({ length: 1000 }, (_, i) => tally(String(i), 1)));
    assert.deepEqual(names(), ['997', '998', '999']);
  });
});
