import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { StoryFigures } from '../../../loadtest/story.ts';
import { groupMembers } from '../../support/process-group.ts';
import { startLoadTest } from '../load-test-command.ts';

const SMALL = ['--sockets', '50', '--bare', '1', '--idle', '1', '--flood', '3'];

describe('npm run loadtest', () => {
  it('reconciles a closed-loop flood by kcat, writes the report and leaves no process behind', async (t) => {
    const run = startLoadTest(t, [...SMALL, '--ahead', '400']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const result = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as StoryFigures;
    const { produced, delivered } = result.flood;
    assert.deepEqual(result.faults, []);
    assert.ok(produced > 0, run.output);
    assert.equal(delivered, produced * 50);
    assert.deepEqual(
      result.phases.map(({ name }) => name),
      ['bare', 'idle', 'flood', 'drain'],
    );
    assert.ok(result.spreads.length >= 3);
    assert.ok(result.spreads.every(({ heapUsedBytes, residentBytes }) => heapUsedBytes.max < residentBytes.min));
    assert.match(await readFile(`${run.files}.md`, 'utf8'), /Reconciled/);
    assert.match(await readFile(`${run.files}.svg`, 'utf8'), /^<svg/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });

  it('reconciles an open-loop flood with two gateways, one of them slow', async (t) => {
    // Small results for many sockets: a client without a core for a second does not become a slow consumer.
    const many = ['--sockets', '400', '--fields', 'few'];
    const run = startLoadTest(t, [...SMALL, ...many, '--pace', '2', '--pods', 'slow-gateway']);
    // Exit code 1 is fine: a slow test machine may miss a bound.
    await run.exited;
    const result = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as StoryFigures;
    assert.deepEqual(result.faults, [], run.output);
    assert.equal(result.flood.delivered, result.flood.produced * 400);
    assert.deepEqual(
      result.phases.map(({ name }) => name),
      ['bare', 'idle', 'pace', 'flood', 'drain'],
    );
    assert.ok(result.openLoop!.age.count > 0, 'ages are known');
    assert.ok(result.spreads.every(({ backlog }) => backlog!.residentBytes.min > 0));
    assert.match(await readFile(`${run.files}.svg`, 'utf8'), /Records that wait in Kafka/);
    assert.deepEqual(await groupMembers(run.child.pid!, 5000), []);
  });
});
