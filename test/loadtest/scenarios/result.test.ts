import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetReport } from '../../../loadtest/scenarios/clients/fleet-calls.ts';
import { readFlags } from '../../../loadtest/scenarios/flags.ts';
import { faultsOf, warningsOf } from '../../../loadtest/scenarios/result.ts';
import { scenarioOf } from '../../../loadtest/scenarios/scenario.ts';
import type { ScenarioName } from '../../../loadtest/scenarios/scenario.ts';

const NOTHING = { count: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 };
const CLEAN: FleetReport = {
  ...{ expected: 100, delivered: 100, lost: 0, missed: 0, subscriptions: 10, complete: 10 },
  ...{ duplicates: 0, reordered: 0, corrupt: 0, unrequested: 0, gaps: 0, unpublished: 0 },
  ...{ latency: NOTHING, reconnects: NOTHING, handshakes: NOTHING },
  ...{ closes: {}, slowCloses: {}, failedAttempts: {}, failures: [], failureCount: 0 },
  ...{ ready: 10, cpuPercent: 20, waitPercent: 2, lagP99Ms: 2, lagMaxMs: 2 },
};

function faults(name: ScenarioName, changes: Partial<FleetReport>, ending?: number): string[] {
  const { scenario, settings } = readFlags(['--scenario', name, '--clients', '10'])!;
  const deploy = ending === undefined ? undefined : { replacementMs: 1, drainMs: 1, ending };
  return faultsOf(scenario, settings, { ...CLEAN, ...changes }, deploy);
}

describe('faultsOf', () => {
  it('returns no fault for a clean run', () => {
    for (const name of ['mixed', 'churn', 'deploy', 'slow', 'cold'] as const) assert.deepEqual(faults(name, {}), []);
  });

  it('reports each kind of fault in every scenario', () => {
    for (const name of ['mixed', 'churn', 'deploy', 'slow', 'cold'] as const) {
      for (const kind of ['lost', 'corrupt', 'unrequested', 'unpublished', 'failureCount'] as const) {
        assert.equal(faults(name, { [kind]: 3 }).length, 1, `${name}: ${kind}`);
        assert.match(faults(name, { [kind]: 3 })[0]!, /^3 /);
      }
      assert.match(faults(name, { ready: 8 })[0]!, /^2 clients/);
      assert.deepEqual(faults(name, { delivered: 0 }), ['nothing was delivered']);
      assert.match(faults(name, { closes: { 1006: 1 } })[0]!, /closed with 1006/);
    }
  });

  it('allows missed records only in scenarios whose clients reconnect', () => {
    assert.deepEqual(faults('churn', { missed: 5 }), []);
    assert.deepEqual(faults('deploy', { missed: 5 }), []);
    assert.match(faults('mixed', { missed: 5 })[0]!, /^5 deliveries missed/);
    assert.match(faults('slow', { missed: 5 })[0]!, /^5 deliveries missed/);
    assert.match(faults('cold', { missed: 5 })[0]!, /^5 deliveries missed/);
  });

  it('allows the closes of a drain in the deploy scenario only', () => {
    assert.deepEqual(faults('deploy', { closes: { 1001: 5 }, duplicates: 2 }, 0), []);
    assert.match(faults('mixed', { closes: { 1001: 5 } })[0]!, /closed with 1001/);
    assert.match(faults('mixed', { duplicates: 2 })[0]!, /^2 duplicates/);
    assert.match(faults('deploy', {}, 1)[0]!, /ended with 1/);
  });

  it('allows failed connection attempts that were retried', () => {
    assert.deepEqual(faults('cold', { failedAttempts: { 1006: 9 } }), []);
  });
});

describe('warningsOf', () => {
  it('warns when the client may have limited the result', () => {
    assert.deepEqual(warningsOf(CLEAN, []), []);
    assert.match(warningsOf({ ...CLEAN, cpuPercent: 81 }, [])[0]!, /81 % of its core/);
    assert.match(warningsOf({ ...CLEAN, lagP99Ms: 90 }, [])[0]!, /90 ms late/);
    assert.match(warningsOf({ ...CLEAN, waitPercent: 60 }, [])[0]!, /client waited for a core 60 %/);
  });

  it('warns when a pod waited for a core', () => {
    const pod = { name: 'pod A', cpuPercent: 30, waitPercent: 5, residentMb: 1, lagP99Ms: 1, slowConsumers: 0 };
    assert.deepEqual(warningsOf(CLEAN, [pod]), []);
    assert.match(warningsOf(CLEAN, [{ ...pod, waitPercent: 50 }])[0]!, /^pod A waited for a core 50 %/);
  });
});

describe('readFlags', () => {
  it('uses the defaults of the scenario', () => {
    assert.deepEqual(readFlags(['--scenario', 'churn'])!.settings.churnSeconds, 15);
    assert.deepEqual(readFlags(['--scenario', 'mixed'])!.settings.churnSeconds, 0);
    const { settings, out } = readFlags(['--scenario=slow', '--clients', '10', '--zipf', '1.2', '--out', 'x'])!;
    assert.deepEqual([settings.slow, settings.stock, settings.zipfExponent, out], [20, 10, 1.2, 'x']);
  });

  it('throws an error with the flag, its value and the expected values', () => {
    assert.throws(() => readFlags(['--scenario', 'fast']), /expected mixed, churn, deploy, slow, cold, got "fast"/);
    assert.throws(() => readFlags(['--scenario', 'mixed', '--rate', '0']), /--rate: expected a whole number from 1/);
    assert.throws(() => readFlags(['--scenario', 'mixed', '--subscriptions', '11']), /from 1 to 10, got "11"/);
    assert.throws(() => readFlags(['--scenario', 'mixed', '--zipf', 'x']), /--zipf: expected a number from 0/);
  });

  it('accepts --help at any position', () => {
    assert.equal(readFlags(['--scenario', '--help']), undefined);
    assert.equal(scenarioOf('cold').connectsAtOnce, true);
  });
});
