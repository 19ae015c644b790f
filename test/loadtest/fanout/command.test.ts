import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Results } from '../../../loadtest/fanout/results.ts';
import { randomName } from '../../support/services.ts';

async function runFanout(t: TestContext, flags: readonly string[]) {
  const name = randomName('fanout');
  const script = new URL('../../../loadtest/fanout.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ...flags, '--out', name], {
    env: { ...process.env, MAX_QUEUE_BYTES: '65536' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(async () => {
    child.kill('SIGTERM');
    const endings = ['.json', '.md', '.svg', '-crier-shared-flame.svg'];
    for (const ending of endings) await rm(`loadtest/results/${name}${ending}`, { force: true });
    await rm(`loadtest/profiles/${name}-crier-shared.cpuprofile`, { force: true });
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 0, output);
  const results = JSON.parse(await readFile(`loadtest/results/${name}.json`, 'utf8')) as Results;
  return { results, picture: await readFile(`loadtest/results/${name}-crier-shared-flame.svg`, 'utf8') };
}

describe('npm run bench:fanout', () => {
  it('shows sockets that do not read being closed with 1013, and where the time goes', async (t) => {
    const flags = ['--servers', 'crier-shared', '--sockets', '60', '--k', '4', '--rounds', '1', '--seconds', '1'];
    const { results, picture } = await runFanout(t, [...flags, '--stalled', '0,3', '--flame-graph']);
    assert.equal(results.rounds.flat().length, 2, 'the profiled window is not among those that are measured');
    const [row] = results.stalled;
    assert.deepEqual([row!.closed, row!.lost, row!.byCloseCode], [3, 0, { 1013: 3 }]);
    const [profile] = results.profiles;
    const percents = profile!.shares.map(({ percent }) => percent);
    assert.ok(Math.abs(percents.reduce((sum, percent) => sum + percent, 0) - 100) < 0.01);
    assert.ok(profile!.shares.some(({ stage, percent }) => stage === 'write' && percent > 5));
    assert.match(picture, /<title>[^<]*dist\/src\/fanout\/outbox\.js/);
  });
});
