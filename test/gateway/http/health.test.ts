import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { healthRoutes } from '../../../src/gateway/http/health.ts';
import type { HealthOptions } from '../../../src/gateway/http/health.ts';
import { LoopLag } from '../../../src/gateway/http/loop-lag.ts';
import { startAdmin } from '../../support/admin.ts';
import { waitFor } from '../../support/wait-for.ts';

function startHealth(t: TestContext, overrides: Partial<HealthOptions> = {}) {
  const lag = new LoopLag().start();
  t.after(() => lag.close());
  return startAdmin(
    t,
    healthRoutes({ status: () => 'ready', unreadyReasons: () => [], details: () => ({}), lag, ...overrides }),
  );
}

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('/healthz', () => {
  it('answers 200 in every status, because it depends on neither Kafka nor Redis', async (t) => {
    for (const status of ['starting', 'ready', 'draining'] as const) {
      const { get } = await startHealth(t, {
        status: () => status,
        details: () => {
          throw new Error('/healthz read the status');
        },
      });
      assert.equal((await get('/healthz')).status, 200);
    }
  });

  it('answers 503 after the event loop was blocked for too long, and 200 when it turns again', async (t) => {
    const { get } = await startHealth(t, { maxLoopLagMs: 300 });
    const answer = get('/healthz');
    block(1200);
    const { status, text } = await answer;
    assert.equal(status, 503);
    assert.match(text, /"status":"stuck","loopLagMs":\d+/);
    await waitFor('health', async () => (await get('/healthz')).status === 200);
  });
});

describe('/startupz', () => {
  it('answers 503 while the pod starts and 200 from then on', async (t) => {
    let status: 'starting' | 'ready' | 'draining' = 'starting';
    const { get } = await startHealth(t, { status: () => status, unreadyReasons: () => ['connections'] });
    const statuses: number[] = [];
    for (status of ['starting', 'ready', 'draining'] as const) statuses.push((await get('/startupz')).status);
    assert.deepEqual(statuses, [503, 200, 200]);
  });
});

describe('/readyz', () => {
  it('answers 503 and names the reasons while the pod is overloaded', async (t) => {
    let reasons = ['loop_lag', 'connections'];
    const { get } = await startHealth(t, { unreadyReasons: () => reasons });
    const { status, text } = await get('/readyz');
    assert.deepEqual([status, JSON.parse(text)], [503, { reasons, status: 'overloaded' }]);
    reasons = [];
    assert.equal((await get('/readyz')).status, 200);
  });

  it('answers 200 when started and not draining, else 503', async (t) => {
    let status: 'starting' | 'ready' | 'draining' = 'starting';
    const { get } = await startHealth(t, { status: () => status });
    assert.deepEqual([(await get('/readyz')).status, (await get('/readyz')).text], [503, '{"status":"starting"}\n']);
    status = 'ready';
    assert.equal((await get('/readyz')).status, 200);
    status = 'draining';
    assert.equal((await get('/readyz')).status, 503);
  });

  it('stays ready with a missing topic and without Redis, and names both', async (t) => {
    const { get } = await startHealth(t, {
      details: () => ({ missingTopics: ['bids'], redis: 'unavailable', kafka: 'connected' }),
    });
    const answer = await get('/readyz');
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.text), {
      missingTopics: ['bids'],
      redis: 'unavailable',
      kafka: 'connected',
      status: 'ready',
    });
  });
});
