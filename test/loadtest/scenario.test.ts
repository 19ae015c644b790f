import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { ScenarioResult } from '../../loadtest/scenarios/result.ts';
import { groupMembers } from '../support/process-group.ts';
import { startLoadTest } from './load-test-command.ts';

const SMALL = ['--clients', '40', '--stock', '10', '--auctions', '20', '--rate', '40'];

describe('npm run loadtest -- --scenario', () => {
  it('reconciles reconnecting clients, writes the results and leaves no process behind', async (t) => {
    const run = startLoadTest(t, ['--scenario', 'churn', ...SMALL, '--seconds', '8', '--reconnect-seconds', '4']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const { fleet, faults, records } = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as ScenarioResult;
    assert.deepEqual(faults, []);
    assert.equal(records, 320);
    assert.ok(fleet.delivered > 0 && fleet.latency.count > 0, run.output);
    assert.equal(fleet.expected, fleet.delivered + fleet.missed);
    // Each of 40 clients reconnects about twice.
    assert.ok(fleet.reconnects.count > 40, run.output);
    assert.match(await readFile(`${run.files}.md`, 'utf8'), /No fault\./);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
