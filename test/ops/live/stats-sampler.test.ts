import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatsSampler } from '../../../src/ops/live/stats-sampler.ts';
import type { Figures } from '../../../src/ops/live/stats-reader.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A sampler whose figures are numbered by their reading. */
function numbered(read: (number: number) => Promise<void> = () => Promise.resolve(), unwatchedMs = 60_000) {
  const state = { readings: 0, rankings: 0, failures: [] as string[] };
  const reader = {
    read: async () => {
      const number = ++state.readings;
      await read(number);
      const top_operations = () => {
        state.rankings++;
        return Promise.resolve([]);
      };
      return { uptime_seconds: number, at: new Date().toISOString(), top_operations } as unknown as Figures;
    },
  };
  const onFailure = ({ message }: Error) => void state.failures.push(message);
  return { state, sampler: new StatsSampler(reader, onFailure, { watchedMs: 5, unwatchedMs }) };
}

describe('StatsSampler', () => {
  it('reads seldom before somebody watches and after the last watcher has left', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { state, sampler } = numbered();
    const stop = new AbortController();
    const watch = sampler.watch(stop.signal);
    t.mock.timers.tick(59_999);
    assert.equal(state.readings, 0);
    await watch.next();
    assert.equal(state.readings, 1);
    const pending = watch.next();
    t.mock.timers.tick(5);
    await pending;
    assert.equal(state.readings, 2);
    const last = watch.next();
    stop.abort();
    assert.equal((await last).done, true);
    assert.equal(sampler.watchers, 0);
    t.mock.timers.tick(59_999);
    assert.equal(state.readings, 2);
    t.mock.timers.tick(1);
    assert.equal(state.readings, 3);
    await sampler.close();
  });

  it('has the figures of the time before somebody watches, without operations, which it does not rank', async () => {
    const { state, sampler } = numbered(undefined, 5);
    await waitFor('two readings', () => sampler.history.length >= 2);
    assert.deepEqual(
      sampler.history.slice(0, 2).map(({ uptime_seconds, top_operations }) => [uptime_seconds, top_operations]),
      [
        [1, []],
        [2, []],
      ],
    );
    assert.equal(state.rankings, 0);
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
