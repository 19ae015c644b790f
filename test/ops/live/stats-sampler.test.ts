import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatsSampler } from '../../../src/ops/live/stats-sampler.ts';
import type { Stats } from '../../../src/ops/live/stats.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A sampler whose figures are numbered by their reading. */
function numbered(read: (number: number) => Promise<void> = () => Promise.resolve()) {
  const state = { readings: 0, resets: 0, failures: [] as string[] };
  const reader = {
    read: async () => {
      const number = ++state.readings;
      await read(number);
      return { uptime_seconds: number } as Stats;
    },
    reset: () => void state.resets++,
  };
  return { state, sampler: new StatsSampler(reader, ({ message }) => state.failures.push(message), 5) };
}

describe('StatsSampler', () => {
  it('reads nothing before somebody watches, and nothing after the last watcher has left', async () => {
    const { state, sampler } = numbered();
    const readings = () => state.readings;
    const stop = new AbortController();
    const watch = sampler.watch(stop.signal);
    await waitFor('turns', () => Promise.resolve(true));
    assert.equal(readings(), 0);
    await watch.next();
    await watch.next();
    assert.equal(readings(), 2);
    const pending = watch.next();
    stop.abort();
    assert.equal((await pending).done, true);
    assert.equal(sampler.watchers, 0);
    assert.equal(state.resets, 1);
    const before = readings();
    const again = sampler.watch(new AbortController().signal);
    await again.next();
    assert.equal(readings(), before + 1, 'no timer has read meanwhile');
    await sampler.close();
  });

  it('gives all watchers the figures of one reading, and a slow watcher the latest, none twice', async () => {
    const { state, sampler } = numbered();
    const { signal } = new AbortController();
    const [quick, slow] = [sampler.watch(signal), sampler.watch(signal)];
    const first = await Promise.all([quick.next(), slow.next()]);
    assert.deepEqual(
      first.map(({ value }) => value?.uptime_seconds),
      [1, 1],
    );
    for (let number = 2; number <= 5; number++) assert.equal((await quick.next()).value?.uptime_seconds, number);
    assert.equal((await slow.next()).value?.uptime_seconds, 5);
    assert.equal(state.readings, 5);
    await sampler.close();
    assert.equal((await slow.next()).done, true);
  });

  it('reads again after a reading that failed', async () => {
    const { state, sampler } = numbered((number) =>
      number === 1 ? Promise.reject(new Error('broken')) : Promise.resolve(),
    );
    const watch = sampler.watch(new AbortController().signal);
    assert.equal((await watch.next()).value?.uptime_seconds, 2);
    assert.deepEqual(state.failures, ['broken']);
    await sampler.close();
  });
});
