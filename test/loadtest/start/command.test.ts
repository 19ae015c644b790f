import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { groupMembers } from '../../support/process-group.ts';
import { randomName } from '../../support/services.ts';
import type { Spread } from '../../../loadtest/runner/spread.ts';

/** By role and figure. */
type StartSpreads = Record<string, Record<string, Spread>>;

describe('npm run bench:start', () => {
  it('measures the start of each role of two builds, and leaves no process', async (t) => {
    const name = randomName('start');
    const files = `loadtest/results/${name}`;
    t.after(async () => {
      for (const ending of ['.json', '.md']) await rm(`${files}${ending}`, { force: true });
    });
    const script = new URL('../../../loadtest/bench.js', import.meta.url).pathname;
    const flags = ['--rounds', '1', '--base', '.', '--out', name];
    const child = spawn(process.execPath, [script, 'start', ...flags], { stdio: 'ignore', detached: true });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const { crier, base } = JSON.parse(await readFile(`${files}.json`, 'utf8')) as Record<string, StartSpreads>;
    for (const starts of [crier!, base!]) {
      assert.deepEqual(Object.keys(starts), ['embedded', 'gateway', 'worker']);
      for (const [role, figures] of Object.entries(starts)) {
        assert.deepEqual(Object.keys(figures), ['CPU, ms', 'wall, ms', 'RSS, MB']);
        for (const [figure, { median }] of Object.entries(figures))
          assert.ok(median > 1, `${role}: ${figure} is ${median}`);
      }
    }
    assert.match(
      await readFile(`${files}.md`, 'utf8'),
      /Took longest in one start, embedded: .*graphql \d+ ms.*, worker: .*kafkajs \d+ ms/,
    );
    assert.deepEqual(await groupMembers(child.pid!, 5000), []);
  });
});
