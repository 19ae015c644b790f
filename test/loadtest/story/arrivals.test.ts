import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ages } from '../../../loadtest/story/backlog/ages.ts';
import { Arrivals } from '../../../loadtest/story/client/arrivals.ts';

describe('Arrivals', () => {
  it('returns each copy once it has reached the last socket, with its time', () => {
    let now = 10;
    const arrivals = new Arrivals(2, () => now);
    arrivals.deliver(0);
    arrivals.deliver(7);
    now = 20;
    arrivals.deliver(7);
    assert.deepEqual(arrivals.take(), [7, 20]);
    now = 30;
    arrivals.deliver(0);
    assert.deepEqual(arrivals.take(), [0, 30]);
    assert.deepEqual(arrivals.take(), []);
  });

  it('grows beyond its initial capacity', () => {
    const arrivals = new Arrivals(2, () => 1);
    arrivals.deliver(1);
    for (const copy of [1_000_000, 1_000_000, 1]) arrivals.deliver(copy);
    assert.deepEqual(arrivals.take(), [1_000_000, 1, 1, 1]);
  });
});

describe('Ages', () => {
  it('measures from the first publish of a copy to its arrival at the last socket', () => {
    const ages = new Ages();
    ages.published(0, 100);
    ages.published(0, 150);
    ages.completed([0, 180]);
    const { count, maxMs } = ages.total();
    assert.deepEqual({ count, maxMs: Math.round(maxMs) }, { count: 1, maxMs: 80 });
  });

  it('measures a copy whose publish is reported after its arrival', () => {
    const ages = new Ages();
    ages.completed([3, 180]);
    assert.equal(ages.takeSecond().count, 0);
    ages.published(3, 170);
    ages.completed([]);
    assert.equal(ages.takeSecond().count, 1);
  });

  it('resets the total on request and the second on each read', () => {
    const ages = new Ages();
    for (const copy of [0, 1, 2]) ages.published(copy, 0);
    ages.completed([0, 500]);
    ages.resetTotal();
    ages.completed([1, 10, 2, 20]);
    assert.equal(ages.takeSecond().count, 3);
    ages.completed([]);
    assert.equal(ages.takeSecond().count, 0);
    assert.equal(ages.total().count, 2);
    assert.ok(ages.total().maxMs < 25);
  });
});
