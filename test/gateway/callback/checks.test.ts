import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { waitFor } from '../../support/wait-for.ts';
import { startCallbacks } from './start-callbacks.ts';

const FIVE_MINUTES_MS = 300_000;

async function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { router, live, metric } = await startCallbacks(t);
  const subscribe = async (heartbeatIntervalMs: number) =>
    (await live({ extension: { heartbeatIntervalMs } })).subscription;
  const hasEnded = async () => (await metric('crier_connections')) === 0;
  return { router, metric, subscribe, hasEnded, pass: (ms: number) => t.mock.timers.tick(ms) };
}

describe('checks of a callback', () => {
  it('come before the interval of its heartbeats is over', async (t) => {
    const { router, subscribe, pass } = await start(t);
    const subscription = await subscribe(1000);
    for (let count = 2; count <= 5; count++) {
      pass(749);
      assert.equal(router.posts.length, count - 1);
      pass(1);
      await waitFor('a check', () => subscription.accepted.length === count);
    }
    assert.ok(router.posts.every(({ action }) => action === 'check'));
  });

  for (const [heartbeats, intervalMs] of [
    ['no heartbeats', 0],
    ['heartbeats of a day', 86_400_000],
  ] as const)
    it(`with ${heartbeats} come every 5 minutes, so that a router that has vanished is noticed`, async (t) => {
      const { router, subscribe, hasEnded, pass, metric } = await start(t);
      const subscription = await subscribe(intervalMs);
      pass(FIVE_MINUTES_MS - 1);
      assert.equal(router.posts.length, 1);
      pass(1);
      await waitFor('a check', () => subscription.accepted.length === 2);
      router.forget(subscription);
      pass(FIVE_MINUTES_MS);
      await waitFor('its end', hasEnded);
      assert.equal(await metric('crier_callback_posts_total{result="gone"}'), 1);
    });
});
