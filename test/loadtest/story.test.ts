import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { StoryResult } from '../../loadtest/story/result.ts';
import { groupMembers } from '../support/process-group.ts';
import { startLoadTest } from './load-test-command.ts';

describe('npm run loadtest', () => {
  it('reconciles a flood by kcat, writes the report and leaves no process behind', async (t) => {
    const run = startLoadTest(t, ['--sockets', '50', '--bare', '1', '--idle', '1', '--flood', '3']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const result = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as StoryResult;
    const { produced, delivered } = result.flood;
    assert.deepEqual(result.faults, []);
    assert.ok(produced > 0, run.output);
    assert.equal(delivered, produced * 50);
    assert.deepEqual(
      result.phases.map(({ name }) => name),
      ['bare', 'idle', 'flood', 'drain'],
    );
    assert.ok(result.samples.every(({ heapUsedBytes, residentBytes }) => heapUsedBytes < residentBytes));
    assert.match(await readFile(`${run.files}.html`, 'utf8'), /Reconciled/);
    assert.match(await readFile(`${run.files}.svg`, 'utf8'), /^<svg/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
