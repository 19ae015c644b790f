import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schedule } from '../../../loadtest/scenarios/load/schedule.ts';

describe('Schedule', () => {
  it('gives what is due, under the time at which it was due, however late it is asked', () => {
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
