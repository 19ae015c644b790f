import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InflightBudget } from '../../../src/kafka/fetching/inflight-budget.ts';

describe('InflightBudget', () => {
  it('lets held partitions keep half of its bytes, and no more', () => {
    const budget = new InflightBudget(100);
    for (const partition of ['a', 'b', 'c']) budget.reserve('1', partition, 25);
    assert.ok(budget.hold('a'));
    assert.ok(budget.hold('b'));
    assert.equal(budget.hold('c'), false);
    assert.ok(budget.isHeld('c'), 'it is not fetched all the same');
    assert.equal(budget.room, 50);
    budget.releasePartition('a');
    budget.releasePartition('c');
    assert.equal(budget.room, 75);
    budget.reserve('2', 'c', 25);
    assert.ok(budget.hold('c'));
  });

  it('counts what a held partition keeps when its broker is fetched from again', () => {
    const budget = new InflightBudget(100);
    budget.reserve('1', 'a', 20);
    budget.reserve('1', 'b', 30);
    budget.hold('a');
    budget.releaseNode('1');
    assert.equal(budget.room, 80);
  });

  it('is idle where only held partitions keep records: then the next one makes progress, however large it is', () => {
    const budget = new InflightBudget(100);
    budget.reserve('1', 'a', 20);
    assert.equal(budget.isIdle, false);
    budget.hold('a');
    assert.ok(budget.isIdle);
  });

  it('wakes a waiting fetch when records are dropped', async () => {
    const budget = new InflightBudget(100);
    budget.reserve('1', 'a', 100);
    const released = budget.released(10_000);
    assert.equal(budget.hold('a'), false);
    assert.ok(await released);
  });
});
