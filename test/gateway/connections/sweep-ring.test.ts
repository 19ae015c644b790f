import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SweepRing } from '../../../src/gateway/connections/sweep-ring.ts';

describe('SweepRing', () => {
  it('visits each member once in as many calls as it has slots, equally many in each call', () => {
    const ring = new SweepRing<number>(4);
    for (let i = 0; i < 12; i++) ring.add(i);
    const slots = Array.from({ length: 4 }, () => [...ring.next()]);
    assert.deepEqual(
      slots.map(({ length }) => length),
      [3, 3, 3, 3],
    );
    assert.deepEqual(
      slots.flat().sort((a, b) => a - b),
      [...ring].sort((a, b) => a - b),
    );
    assert.equal(ring.size, 12);
  });

  it('keeps the interval of a member while thousands are added and deleted', () => {
    const ring = new SweepRing<string>(20);
    ring.add('first');
    const visits: number[] = [];
    for (let call = 0; call < 200; call++) {
      if ([...ring.next()].includes('first')) visits.push(call);
      for (let i = 0; i < call * 3; i++) ring.add(`${call}/${i}`);
      for (let i = 0; i < call; i++) ring.delete(`${call}/${i * 2}`);
    }
    assert.deepEqual(
      visits,
      Array.from({ length: 10 }, (_, i) => visits[0]! + 20 * i),
    );
  });

  it('does not visit a deleted member', () => {
    const ring = new SweepRing<string>(2);
    for (const name of ['a', 'b', 'c']) ring.add(name);
    ring.delete('b');
    ring.delete('unknown');
    assert.deepEqual([...ring.next(), ...ring.next()].sort(), ['a', 'c']);
    assert.equal(ring.size, 2);
  });
});
