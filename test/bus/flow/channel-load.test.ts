import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChannelLoad } from '../../../src/bus/flow/channel-load.ts';
import { Intake } from '../../../src/bus/flow/intake.ts';

const MAX_EVENTS = 4;

function stage() {
  const busy = new Set<ChannelLoad>();
  const load = new ChannelLoad(busy, MAX_EVENTS, () => 0);
  let rooms = 0;
  load.onRoom = () => rooms++;
  return { busy, load, intake: new Intake('orders', 0), rooms: () => rooms };
}

describe('the load of a channel', () => {
  it('is full with its limit of events, and tells once when it has room again', () => {
    const { load, intake, rooms } = stage();
    load.add(intake, MAX_EVENTS - 0.5);
    assert.ok(!load.isFull);
    load.add(intake, 0.5);
    assert.ok(load.isFull);
    load.add(intake, -0.5);
    load.add(intake, -0.5);
    assert.deepEqual([load.isFull, rooms()], [false, 1]);
  });

  it('is full while executions wait for the bound of the pod, whatever its events', () => {
    const { load, rooms } = stage();
    load.wait(2);
    assert.ok(load.isFull);
    load.wait(-1);
    assert.deepEqual([load.isFull, rooms()], [true, 0]);
    load.wait(-1);
    assert.deepEqual([load.isFull, rooms()], [false, 1]);
  });

  it('is busy with half of its limit', () => {
    const { busy, load, intake } = stage();
    load.add(intake, MAX_EVENTS / 2 - 0.1);
    assert.equal(busy.size, 0);
    load.add(intake, 0.1);
    assert.equal(busy.size, 1);
    load.add(intake, -0.1);
    assert.equal(busy.size, 0);
  });

  it('has the partitions whose events are in flight', () => {
    const { load, intake } = stage();
    const other = new Intake('orders', 1);
    load.add(intake, 1);
    assert.deepEqual([load.has(intake), load.has(other)], [true, false]);
    load.add(intake, -1);
    assert.equal(load.has(intake), false);
  });
});
