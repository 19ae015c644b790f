import type { TestContext } from 'node:test';

/** Much less than a timer may be late. */
const STEP_MS = 10;

/** Stops `setTimeout` and `performance.now()`, but no timer of `node:timers/promises`. `advance` moves both on. */
export function manualClock(t: TestContext) {
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    advance: (ms: number) => {
      for (let rest = ms; rest > 0; rest -= STEP_MS) {
        const step = Math.min(STEP_MS, rest);
        now += step;
        t.mock.timers.tick(step);
      }
    },
  };
}
