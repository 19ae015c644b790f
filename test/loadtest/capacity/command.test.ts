import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { Parts } from '../../../loadtest/capacity/figures.ts';
import type { Spread } from '../../../loadtest/runner/spread.ts';
import { groupMembers } from '../../support/process-group.ts';
import { randomName } from '../../support/services.ts';

const SMALL = ['--rounds', '1', '--seconds', '1', '--pods', '10', '--channels', '1000', '--partitions', '10'];

describe('npm run bench:capacity', () => {
  it('measures each part without a loss, and leaves no process', async (t) => {
    const name = randomName('capacity');
    const files = `loadtest/results/${name}`;
    t.after(async () => {
      for (const ending of ['.json', '.md']) await rm(`${files}${ending}`, { force: true });
    });
    const script = new URL('../../../loadtest/bench.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, 'capacity', ...SMALL, '--out', name], {
      stdio: 'ignore',
      detached: true,
    });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const { parts } = JSON.parse(await readFile(`${files}.json`, 'utf8')) as {
      parts: Parts<Spread>;
    };
    assert.equal(Object.keys(parts).length, 6);
    for (const rows of Object.values(parts))
      for (const figures of Object.values(rows))
        for (const [column, { median, min, max }] of Object.entries(figures))
          assert.ok([median, min, max].every(Number.isFinite), column);
    assert.deepEqual(await groupMembers(child.pid!, 5000), []);
  });
});
