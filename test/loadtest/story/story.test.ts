import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { StoryResult } from '../../../loadtest/story/result.ts';
import { groupMembers } from '../../support/process-group.ts';
import { startLoadTest } from '../load-test-command.ts';

const SMALL = ['--sockets', '50', '--bare', '1', '--idle', '1', '--flood', '3'];

describe('npm run loadtest', () => {
  it('reconciles a closed loop by kcat, writes the report and leaves no process behind', async (t) => {
    const run = startLoadTest(t, [...SMALL, '--ahead', '400']);
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

  it('reconciles a flood that waits for nobody, by two gateways of which one is slow', async (t) => {
    // So many, and small results: no socket gets so much that a client without a core for a second is a slow consumer.
    const many = ['--sockets', '400', '--fields', 'few'];
    const run = startLoadTest(t, [...SMALL, ...many, '--pace', '2', '--pods', 'slow-gateway']);
    // With 1, too: how long a machine of tests takes for anything is no matter of this one.
    await run.exited;
    const result = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as StoryResult;
    assert.deepEqual(result.faults, [], run.output);
    assert.equal(result.flood.delivered, result.flood.produced * 400);
    assert.deepEqual(
      result.phases.map(({ name }) => name),
      ['bare', 'idle', 'pace', 'flood', 'drain'],
    );
    assert.ok(result.free!.age.count > 0, 'ages are known');
    assert.ok(result.samples.every(({ backlog }) => backlog!.residentBytes > 0));
    assert.match(await readFile(`${run.files}.svg`, 'utf8'), /Records that wait in Kafka/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
