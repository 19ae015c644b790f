import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Results } from '../../../loadtest/fanout/report.ts';
import { groupMembers } from '../../support/process-group.ts';
import { randomName } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

const FLAGS = ['--servers', 'crier-shared', '--sockets', '60', '--k', '4', '--rounds', '1', '--stalled', '0,3'];

function startFanout(t: TestContext, flags: readonly string[]) {
  const name = randomName('fanout');
  const script = new URL('../../../loadtest/bench.js', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, 'fanout', ...FLAGS, ...flags, '--out', name], {
    env: { ...process.env, MAX_QUEUE_BYTES: '65536' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = {
    child,
    output: '',
    files: `loadtest/results/${name}`,
    profile: `loadtest/profiles/${name}-crier-shared.cpuprofile`,
    exited: once(child, 'exit'),
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (run.output += chunk.toString()));
  }
  t.after(async () => {
    child.kill('SIGTERM');
    for (const ending of ['json', 'md']) await rm(`${run.files}.${ending}`, { force: true });
    await rm(run.profile, { force: true });
  });
  return run;
}

describe('npm run bench:fanout', () => {
  it('reports stalled sockets closed with 1013 and the time by stage', async (t) => {
    const run = startFanout(t, ['--seconds', '1', '--flame-graph']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    const results = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as Results;
    assert.deepEqual(
      results.rows.map(({ windows }) => windows),
      [1, 1],
      'the profiled window is not among those that are measured',
    );
    const [row] = results.stalled;
    assert.deepEqual([row!.closed, row!.lost, row!.byCloseCode], [3, 0, { 1013: 3 }]);
    const [profile] = results.profiles;
    const percents = profile!.shares.map(({ percent }) => percent);
    assert.ok(Math.abs(percents.reduce((sum, percent) => sum + percent, 0) - 100) < 0.01);
    assert.ok(profile!.shares.some(({ stage, percent }) => stage === 'write' && percent > 5));
    assert.match(await readFile(run.profile, 'utf8'), /"functionName":"write"/);
  });

  it('compares the deliveries on a Redis Cluster with those on one server', async (t) => {
    const run = startFanout(t, ['--seconds', '1', '--stalled', '0', '--redis', 'one,cluster']);
    const [code] = (await run.exited) as [number];
    assert.equal(code, 0, run.output);
    assert.match(run.output, /^crier, shared, Redis Cluster +60 +4 +\d\.\d\d ×/m);
    const { rows } = JSON.parse(await readFile(`${run.files}.json`, 'utf8')) as Results;
    assert.deepEqual(
      rows.map(({ contender }) => contender),
      ['crier-shared-cluster', 'crier-shared-cluster-base'],
    );
  });

  for (const [flags, line] of [
    [
      ['--servers', 'raw-ws,crier-shared', '--redis', 'cluster'],
      /^fanout: --redis: raw-ws does not support a Redis Cluster\n$/,
    ],
    [['--redis', 'cluster,one'], /^fanout: --redis: expected one, cluster, one,cluster, got "cluster,one"\n$/],
    [['--redis', 'one,cluster', '--base', '.'], /^fanout: --base: cannot be combined with two of --redis\n$/],
  ] as const) {
    it(`exits with 1 and one line before it starts anything: ${flags.join(' ')}`, async (t) => {
      const run = startFanout(t, flags);
      const [code] = (await run.exited) as [number];
      assert.equal(code, 1);
      assert.match(run.output, line);
    });
  }

  it('ends by one signal with every process it started, also in its own network namespace', async (t) => {
    const run = startFanout(t, ['--seconds', '600']);
    await waitFor('the run', () => /: K=4$/m.test(run.output), 120_000);
    const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(run.child.pid)]);
    const started = stdout.trim().split(/\s+/).map(Number);
    run.child.kill('SIGINT');
    const [code] = (await run.exited) as [number];
    assert.equal(code, 130, run.output);
    for (const pid of started) assert.deepEqual(await groupMembers(pid, 5000), []);
  });
});
