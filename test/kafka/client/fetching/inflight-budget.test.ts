import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InflightBudget } from '../../../../src/kafka/client/fetching/inflight-budget.ts';

describe('InflightBudget', () => {
  it('lets held partitions keep at most half of its bytes', () => {
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

  it('counts the records of a held partition over the next fetches of its broker', () => {
    const budget = new InflightBudget(100);
    budget.reserve('1', 'a', 20);
    budget.reserve('1', 'b', 30);
    budget.hold('a');
    budget.releaseNode('1');
    assert.equal(budget.room, 80);
  });

  it('is idle while only held partitions keep records, so that a batch of any size makes progress', () => {
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

  it('ends a wait at its deadline, whatever was released before', async () => {
    const budget = new InflightBudget(100);
    const { releases } = budget;
    budget.releasePartition('a');
    assert.equal(await budget.released(10_000, releases), true);
    assert.equal(await budget.released(0, releases), false);
  });
});
