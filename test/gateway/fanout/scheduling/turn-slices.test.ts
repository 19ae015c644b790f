import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TurnSlices } from '../../../../src/gateway/fanout/scheduling/turn-slices.ts';
import { blockLoop } from '../../../support/block-loop.ts';
import { waitFor } from '../../../support/wait-for.ts';

/** Takes `steps` steps of about `stepMs` each. */
function jobOf(name: string, steps: number, done: string[], stepMs = 1) {
  return (isSpent: () => boolean): boolean => {
    while (steps > 0) {
      if (isSpent()) return false;
      blockLoop(stepMs);
      steps--;
    }
    done.push(name);
    return true;
  };
}

describe('TurnSlices', () => {
  it('runs all jobs of a turn at its end, and flushes once', async () => {
    const done: string[] = [];
    const slices = new TurnSlices(10_000, () => done.push('flush'));
    slices.add(jobOf('a', 1, done));
    slices.add(jobOf('b', 1, done));
    assert.deepEqual(done, []);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(done, ['a', 'b', 'flush']);
  });

  it('tells a job whether it is the only one of its turn', async () => {
    const answers: boolean[] = [];
    const slices = new TurnSlices(10_000, () => undefined);
    const ask = () => answers.push(slices.hasOneJob) > 0;
    slices.add(ask);
    slices.add(ask);
    await new Promise((resolve) => setImmediate(resolve));
    slices.add(ask);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(answers, [false, false, true]);
  });

  it('yields to the event loop during a large job, and keeps the order of jobs', async () => {
    const done: string[] = [];
    const slices = new TurnSlices(5, () => undefined);
    let turns = 0;
    const count = () => {
      turns++;
      if (done.length < 3) setImmediate(count);
    };
    setImmediate(count);
    slices.add(jobOf('large', 40, done));
    assert.deepEqual(done, []);
    slices.add(jobOf('small', 1, done));
    slices.add(jobOf('last', 1, done));
    await waitFor('all jobs', () => done.length === 3);
    assert.deepEqual(done, ['large', 'small', 'last']);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  it('starts no further job in a turn after its time is spent', async () => {
    const done: string[] = [];
    const slices = new TurnSlices(1, () => undefined);
    slices.add(jobOf('long', 1, done, 5));
    slices.add(jobOf('next', 0, done));
    // On a busy machine the time may be spent before the first job begins.
    while (done.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(done, ['long']);
    await waitFor('all jobs', () => done.length === 2);
  });

  it('leaves turns to others, and tells them when each slice has ended and what is left', async () => {
    const done: string[] = [];
    const [first, second] = [jobOf('first', 1, done, 2), jobOf('second', 1, done, 2)];
    let taken = 0;
    const left: boolean[] = [];
    const slices = new TurnSlices(1, () => undefined, {
      areWanted: false,
      maxSliceMs: 0,
      take: () => ++taken <= 3,
      endSlice: (_, firstSince) => void left.push(firstSince !== undefined),
    });
    slices.add(first);
    slices.add(second);
    await waitFor('the jobs', () => done.length === 2);
    assert.ok(taken >= 5, `asked ${taken} times`);
    assert.deepEqual([left[0], left.at(-1)], [true, false]);
  });

  it('runs jobs after a turn of others has failed', async (t) => {
    const failures: Error[] = [];
    process.setUncaughtExceptionCaptureCallback((error) => failures.push(error));
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const done: string[] = [];
    const slices = new TurnSlices(10, () => undefined, {
      areWanted: false,
      maxSliceMs: 0,
      take: () => {
        if (failures.length > 0) return false;
        throw new Error('a turn of others');
      },
      endSlice: () => undefined,
    });
    slices.add(jobOf('first', 1, done));
    await waitFor('the failure', () => failures.length === 1);
    slices.add(jobOf('second', 1, done));
    await waitFor('the jobs', () => done.length === 2);
  });

  it('has turns without jobs while others want them', async () => {
    let wanted = 3;
    const slices = new TurnSlices(10, () => undefined, {
      get areWanted() {
        return wanted > 0;
      },
      maxSliceMs: 0,
      take: () => {
        wanted--;
        return false;
      },
      endSlice: () => assert.fail('no job has run'),
    });
    slices.wake();
    await waitFor('the last turn', () => wanted === 0);
  });

  it('makes a slice as long as the turn before it while others make turns long, and only then', async () => {
    const sliceMs = async (maxSliceMs: number) => {
      const others = { areWanted: false, maxSliceMs, take: () => false, endSlice: () => undefined };
      return slicesAfterLongTurns(new TurnSlices(1, () => undefined, others));
    };
    // On a busy machine single slices are measured too long or too short.
    const [usual, longer] = [await sliceMs(0), await sliceMs(20)];
    assert.ok(Math.min(...usual) < 14, usual.join(' '));
    assert.ok(Math.max(...longer) >= 14, longer.join(' '));
  });

  it('finishes all jobs in one turn when asked to', () => {
    const done: string[] = [];
    const slices = new TurnSlices(5, () => undefined);
    slices.add(jobOf('large', 40, done));
    slices.add(jobOf('small', 1, done));
    slices.finish();
    assert.deepEqual(done, ['large', 'small']);
  });
});

/** Length in ms of the second to the sixth slice of a job. 15 ms of other work precede each. */
async function slicesAfterLongTurns(slices: TurnSlices): Promise<number[]> {
  const sliceMs: number[] = [];
  let isEnded = false;
  const others = () => {
    if (isEnded) return;
    blockLoop(15);
    setImmediate(others);
  };
  slices.add((isSpent) => {
    const startedAt = performance.now();
    while (!isSpent());
    sliceMs.push(performance.now() - startedAt);
    return (isEnded = sliceMs.length === 6);
  });
  setImmediate(others);
  await waitFor('six slices', () => isEnded);
  return sliceMs.slice(1);
}
