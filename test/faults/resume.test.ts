import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { HistoryLimits } from '../../src/bus/history.ts';
import { redisServer } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { Fleet } from './fleet.ts';
import { isFull } from './form.ts';

const ENTRIES_PER_SECOND = 100;
const OFFLINE_MS = isFull ? 10_000 : 2000;

/** Reconnects as soon as the network is back. */
const client = { retryWait: () => delay(50) };

async function startStream(t: TestContext, lanes: number, history: Partial<HistoryLimits> = {}) {
  const redis = await redisServer(t);
  const fleet = await Fleet.start(t, { gateways: 2, lanes, redisUrl: redis.url, history });
  const [listener] = await fleet.listen(1, { kind: 'helper', client, lanesEach: lanes });
  fleet.publisher.begin(ENTRIES_PER_SECOND);
  await fleet.until('the first entries', () => listener!.heard.length > 2 * lanes);
  return { fleet, listener: listener! };
}

describe('a client that is offline for a while', () => {
  for (const lanes of [1, 20]) {
    it(`receives all missed events of a stream of 100/s, once and in order, over ${lanes} subscription(s)`, async (t) => {
      const { fleet, listener } = await startStream(t, lanes, { entries: 2000, bytes: 4_000_000 });
      fleet.balancer.disconnect();
      await waitFor('the close', () => !listener.isConnected);
      await delay(OFFLINE_MS);
      fleet.balancer.restore();
      await fleet.until('the reconnect', () => listener.resumed(true) + listener.resumed(false) === lanes);
      await delay(500);
      await fleet.finish([listener]);
      t.diagnostic(`${listener.absencesMs.map(Math.round).join()} ms away, ${listener.heard.length} entries heard`);
      assert.equal(listener.shortcomings(fleet.publisher.written), '');
      assert.deepEqual([listener.resumed(true), listener.resumed(false)], [lanes, 0]);
    });
  }

  it('receives `resumed: false` and no part of the history when it was away for longer than the history reaches', async (t) => {
    const { fleet, listener } = await startStream(t, 1, { seconds: 1 });
    fleet.balancer.disconnect();
    await waitFor('the close', () => !listener.isConnected);
    const before = listener.heard.length;
    await delay(OFFLINE_MS + 1000);
    const restoredAt = Date.now();
    fleet.balancer.restore();
    await fleet.until('the first entry after', () => listener.heard.length > before);
    await fleet.finish([listener]);
    const [first] = listener.heard.slice(before);
    assert.equal(first!.extensions?.resumed, false);
    assert.ok(first!.entry.writtenAt >= restoredAt, 'no entry written while the client was offline');
    assert.deepEqual([listener.resumed(true), listener.resumed(false), listener.failures], [0, 1, []]);
    assert.match(listener.shortcomings(fleet.publisher.written), /^\d+ lost [^;]*$/);
  });
});
