import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainFaults } from '../../../loadtest/rollout/drain-bounds.ts';
import type { DrainOutcome } from '../../../loadtest/rollout/drain-bounds.ts';
import type { FleetReport, ResumingReport } from '../../../loadtest/market/clients/fleet-report.ts';

const PLAN = { stock: 9, resuming: 1, delayMs: 5000, shutdownTimeoutMs: 40_000 };
const NOTHING = { count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 };
const RESUMING: ResumingReport = {
  ...{ expected: 9, delivered: 9, lost: 0, missed: 0, subscriptions: 1, complete: 1, duplicates: 0, reordered: 0 },
  ...{ gaps: 0, failures: [], failedAttempts: {}, reconnects: { ...NOTHING, count: 1, maxMs: 900 }, ready: 1 },
};
const FLEET: FleetReport = {
  ...{ expected: 99, delivered: 90, lost: 0, missed: 9, subscriptions: 9, complete: 1, duplicates: 0, reordered: 0 },
  ...{ gaps: 0, corrupt: 0, unrequested: 0, unpublished: 0, closes: { 1001: 9 }, failedAttempts: {} },
  ...{ latency: NOTHING, reconnects: { ...NOTHING, maxMs: 4000 }, handshakes: NOTHING, failures: [], failureCount: 0 },
  ...{ ready: 9, cpuPercent: 20, waitPercent: 1, lagP99Ms: 2, lagMaxMs: 0 },
  resuming: RESUMING,
};
const CLEAN: DrainOutcome = {
  ...{ logReader: 'reads', unreadyMs: 20, firstCloseMs: 5010, endedMs: 25_100, ending: 0, codes: { 1001: 10 } },
  flatness: { perSecond: [5, 5], deviationPercent: 2, late: 0 },
  ...{ lagP99Ms: 8, drainedCpuPercent: 9, otherCpuPercent: 9, waitPercent: 1 },
  fleet: FLEET,
};

const faults = (changes: Partial<DrainOutcome>) => drainFaults({ ...CLEAN, ...changes }, PLAN);
const stock = (changes: Partial<FleetReport>) => faults({ fleet: { ...FLEET, ...changes } });
const resuming = (changes: Partial<ResumingReport>) => stock({ resuming: { ...RESUMING, ...changes } });

describe('drainFaults', () => {
  it('finds none in a drain that keeps every bound, whatever stock clients missed between two connections', () => {
    assert.deepEqual(faults({}), []);
    assert.deepEqual(stock({ missed: 5000 }), []);
  });

  it('finds an end that is not 0, and one after SHUTDOWN_TIMEOUT_MS', () => {
    assert.match(faults({ ending: 'SIGKILL' })[0]!, /ended with SIGKILL/);
    assert.match(faults({ endedMs: 40_100 })[0]!, /ended after 40\.1 s/);
  });

  it('finds a close before the pod was not ready, and before DRAIN_DELAY_MS', () => {
    assert.equal(faults({ firstCloseMs: 4000 }).length, 1);
    assert.equal(faults({ unreadyMs: 6000 }).length, 1);
  });

  it('finds closes that are missing, have another code, are uneven or late', () => {
    assert.equal(faults({ codes: { 1001: 9 } }).length, 1);
    assert.match(faults({ codes: { 1001: 10, 1006: 1 } })[0]!, /closed with 1006/);
    assert.equal(faults({ flatness: { ...CLEAN.flatness, deviationPercent: 10.1 } }).length, 1);
    assert.equal(faults({ flatness: { ...CLEAN.flatness, late: 1 } }).length, 1);
  });

  it('finds no fault in closes that a stall of the clients has moved to the next second', () => {
    const flatness = { ...CLEAN.flatness, deviationPercent: 30 };
    assert.deepEqual(faults({ flatness, fleet: { ...FLEET, lagMaxMs: 200 } }), []);
    assert.equal(faults({ flatness, fleet: { ...FLEET, lagMaxMs: 199 } }).length, 1);
  });

  it('finds clients that are not back, late, or refused meanwhile', () => {
    assert.equal(stock({ ready: 8 }).length, 1);
    assert.equal(resuming({ ready: 0 }).length, 1);
    assert.equal(resuming({ reconnects: { ...NOTHING, count: 1, maxMs: 10_001 } }).length, 1);
    assert.match(stock({ failedAttempts: { 1013: 2 } })[0]!, /failed with 1013/);
  });

  it('finds a late event loop of the other pod', () => {
    assert.match(faults({ lagP99Ms: 101 })[0]!, /101 ms late/);
  });

  it('finds each loss of the ledger', () => {
    assert.equal(stock({ lost: 1 }).length, 1);
    assert.equal(stock({ duplicates: 1 }).length, 1);
    assert.equal(stock({ unpublished: 1 }).length, 1);
    for (const changes of [{ lost: 1 }, { missed: 1 }, { gaps: 1 }, { duplicates: 1 }, { failures: ['x'] }])
      assert.equal(resuming(changes).length, 1, JSON.stringify(changes));
    assert.match(resuming({ reconnects: NOTHING })[0]!, /no client of @crier\/client reconnected/);
    assert.match(resuming({ delivered: 0 })[0]!, /nothing was delivered/);
  });
});
