import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schedule } from '../../../loadtest/market/load/schedule.ts';

describe('Schedule', () => {
  it('returns the events due with their scheduled times, however late the call', () => {
    const schedule = new Schedule(1000, 100, 1);
    assert.deepEqual(schedule.take(999), []);
    assert.deepEqual(schedule.take(1000), [1000]);
    assert.deepEqual(schedule.take(1029), [1010, 1020]);
    assert.deepEqual(schedule.take(1029), []);
    assert.equal(schedule.take(60_000).length, 97);
    assert.equal(schedule.isDone, true);
    assert.deepEqual(schedule.take(60_000), []);
  });
});
