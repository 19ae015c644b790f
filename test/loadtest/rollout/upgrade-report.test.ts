import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { upgradeFaults, upgradeTables } from '../../../loadtest/rollout/upgrade-report.ts';
import type { UpgradeResult } from '../../../loadtest/rollout/upgrade-report.ts';
import type { FleetReport, ResumingReport } from '../../../loadtest/market/clients/fleet-report.ts';

const TIMES = { count: 4, p50Ms: 1, p99Ms: 1, p999Ms: 1, maxMs: 1 };
const RESUMING: ResumingReport = {
  ...{ expected: 9, delivered: 9, lost: 0, missed: 0, subscriptions: 1, complete: 1, duplicates: 0, reordered: 0 },
  ...{ gaps: 0, failures: [], failedAttempts: {}, reconnects: TIMES, ready: 1 },
};
const FLEET: FleetReport = {
  ...{ expected: 99, delivered: 90, lost: 0, missed: 9, subscriptions: 9, complete: 1, duplicates: 0, reordered: 0 },
  ...{ gaps: 0, corrupt: 0, unrequested: 0, unpublished: 0, closes: { 1001: 9 }, failedAttempts: {} },
  ...{ latency: TIMES, reconnects: TIMES, handshakes: TIMES, failures: [], failureCount: 0 },
  ...{ ready: 9, cpuPercent: 20, waitPercent: 1, lagP99Ms: 2, lagMaxMs: 2 },
  resuming: RESUMING,
};
const STAGE = { worker: 'old', gateways: 'new', seconds: 9, heardGateways: 2, waitedSeconds: 3 } as const;
const ENDING = { role: 'gateway', version: 'old', seconds: 1, ending: 0 } as const;
const CLEAN: UpgradeResult = { stages: [STAGE], endings: [ENDING], unrecognised: 0, fleet: FLEET };

const faults = (changes: Partial<UpgradeResult>) => upgradeFaults({ ...CLEAN, ...changes });

describe('upgradeFaults', () => {
  it('finds none if nothing that is promised was lost', () => {
    assert.deepEqual(faults({}), []);
  });

  it('finds a loss of the ledger and a subscription that lacks an event', () => {
    assert.deepEqual(faults({ fleet: { ...FLEET, resuming: { ...RESUMING, missed: 2, complete: 0 } } }), [
      '2 events lost at @crier/client',
      '1 subscriptions of @crier/client lack an event',
    ]);
  });

  it('finds messages that a gateway did not recognise, and pods that did not end with 0', () => {
    assert.match(faults({ unrecognised: 3 })[0]!, /^3 messages/);
    assert.match(faults({ endings: [{ ...ENDING, ending: 1 }] })[0]!, /the old gateway ended with 1/);
  });

  it('finds a stage whose worker did not hear of both gateways, or did not wait for a stopped one', () => {
    assert.match(faults({ stages: [{ ...STAGE, heardGateways: 1 }] })[0]!, /old worker, new gateways: .* 1 gateways/);
    assert.match(faults({ stages: [{ ...STAGE, waitedSeconds: 0 }] })[0]!, /did not wait/);
  });
});

it('lists stages, replaced pods and both kinds of clients in columns of equal count', () => {
  for (const table of upgradeTables(CLEAN)) for (const line of table) assert.equal(line.length, table[0]!.length);
});
