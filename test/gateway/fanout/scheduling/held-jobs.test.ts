import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeldJobs } from '../../../../src/gateway/fanout/scheduling/held-jobs.ts';
import type { Job } from '../../../../src/gateway/fanout/scheduling/turn-slices.ts';
import { ChannelLoad } from '../../../../src/bus/flow/channel-load.ts';
import { Intake } from '../../../../src/bus/flow/intake.ts';

const NOT_SPENT = () => false;
const intake = new Intake('t', 0);

/** A channel that may execute one event at a time. */
const createLoad = () => new ChannelLoad(new Set(), 1, () => 1);

/** Jobs of 10 bytes that start one execution each. Released jobs run at the end of a step, as in slices. */
function createHeld(maxLength = 1000) {
  const queue: Job[] = [];
  const done: string[] = [];
  const held = new HeldJobs(maxLength, (job) => void queue.push(job));
  const step = () => {
    for (const job of queue.splice(0)) job(NOT_SPENT);
  };
  const run = (load: ChannelLoad, name: string) => {
    const job: Job = () => {
      if (held.holds(load, job, 10)) return true;
      load.add(intake, 1);
      done.push(name);
      return true;
    };
    job(NOT_SPENT);
  };
  return { held, queue, done, step, run };
}

describe('HeldJobs', () => {
  it('holds the jobs of a full channel, and releases them one at a time, in order, as executions end', () => {
    const { held, done, step, run } = createHeld();
    const load = createLoad();
    for (const name of ['a', 'b', 'c']) run(load, name);
    assert.deepEqual([done, held.length], [['a'], 20]);
    for (const expected of [
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]) {
      load.add(intake, -1);
      step();
      assert.deepEqual(done, expected);
    }
    assert.equal(held.length, 0);
    load.add(intake, -1);
    run(load, 'd');
    assert.deepEqual(done, ['a', 'b', 'c', 'd']);
  });

  it('holds a job after other held jobs, even if the channel has room by then', () => {
    const { done, step, run } = createHeld();
    const load = createLoad();
    for (const name of ['a', 'b']) run(load, name);
    load.add(intake, -1);
    run(load, 'c');
    assert.deepEqual(done, ['a']);
    step();
    load.add(intake, -1);
    step();
    assert.deepEqual(done, ['a', 'b', 'c']);
  });

  it('releases a job once, even if the channel is full again before its turn', () => {
    const { done, queue, step, run } = createHeld();
    const load = createLoad();
    for (const name of ['a', 'b']) run(load, name);
    for (const part of [-1, 1, -1, 1]) load.add(intake, part);
    assert.equal(queue.length, 1);
    step();
    assert.deepEqual(done, ['a']);
    load.add(intake, -1);
    step();
    assert.deepEqual(done, ['a', 'b']);
  });

  it('does not hold the jobs of another channel', () => {
    const { done, run } = createHeld();
    const full = createLoad();
    for (const name of ['a', 'b']) run(full, name);
    run(createLoad(), 'other');
    assert.deepEqual(done, ['a', 'other']);
  });

  it('releases the oldest jobs, in order, when held bytes exceed the bound, even if the channel is full', () => {
    const { held, done, step, run } = createHeld(25);
    const load = createLoad();
    for (const name of ['a', 'b', 'c', 'd']) run(load, name);
    assert.deepEqual([done, held.length], [['a'], 30]);
    step();
    assert.deepEqual([done, held.length], [['a', 'b'], 20]);
    run(load, 'e');
    step();
    assert.deepEqual(done, ['a', 'b', 'c']);
  });
});
