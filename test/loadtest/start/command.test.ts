import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { groupMembers } from '../../support/process-group.ts';
import { randomName } from '../../support/services.ts';
import type { StartCost } from '../../../loadtest/start/start-once.ts';

describe('npm run bench:start', () => {
  it('measures the start of each role of two builds, and leaves no process', async (t) => {
    const name = randomName('start');
    const files = `loadtest/results/${name}`;
    t.after(async () => {
      for (const ending of ['.json', '.md']) await rm(`${files}${ending}`, { force: true });
    });
    const script = new URL('../../../loadtest/start.js', import.meta.url).pathname;
    const flags = ['--rounds', '1', '--base', '.', '--out', name];
    const child = spawn(process.execPath, [script, ...flags], { stdio: 'ignore', detached: true });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const { starts } = JSON.parse(await readFile(`${files}.json`, 'utf8')) as {
      starts: { role: string; crier: StartCost[]; base: StartCost[] }[];
    };
    assert.deepEqual(
      starts.map(({ role }) => role),
      ['embedded', 'gateway', 'worker'],
    );
    for (const { crier, base } of starts) {
      assert.deepEqual([crier.length, base.length], [1, 1]);
      for (const { cpuMs, wallMs, rssBytes } of [...crier, ...base])
        assert.ok(cpuMs > 0 && wallMs > 0 && rssBytes > 2 ** 20, `${cpuMs} ms, ${wallMs} ms, ${rssBytes} bytes`);
    }
    assert.match(await readFile(`${files}.md`, 'utf8'), /Modules, embedded \(\d+\): .*graphql \d+/);
    assert.deepEqual(await groupMembers(child.pid!, 5000), []);
  });
});
