import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { availableCores, cpuQuota } from '../../src/config/cpu-quota.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function groups(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder(t);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

describe('the CPU quota of a container', () => {
  it('is that of cgroup v2, the least of the group and those above it', async (t) => {
    const root = await groups(t, { 'pods/cpu.max': '150000 100000\n', 'pods/crier/cpu.max': '400000 100000\n' });
    assert.equal(cpuQuota(root, '0::/pods/crier\n'), 1.5);
  });

  it('is that of the root which a container sees as its own', async (t) => {
    const root = await groups(t, { 'cpu.max': '250000 100000\n' });
    assert.equal(cpuQuota(root, '0::/\n'), 2.5);
    assert.equal(cpuQuota(root, '0::/../outside\n'), 2.5);
  });

  it('is that of cgroup v1', async (t) => {
    const root = await groups(t, {
      'cpu,cpuacct/pod/cpu.cfs_quota_us': '300000\n',
      'cpu,cpuacct/pod/cpu.cfs_period_us': '100000\n',
    });
    assert.equal(cpuQuota(root, '4:cpu,cpuacct:/pod\n3:memory:/pod\n'), 3);
  });

  it('is none without a limit, without the files, and without control groups', async (t) => {
    const root = await groups(t, {
      'cpu.max': 'max 100000\n',
      'cpu/cpu.cfs_quota_us': '-1\n',
      'cpu/cpu.cfs_period_us': '100000\n',
    });
    for (const text of ['0::/\n', '4:cpu:/\n', '0::/elsewhere\n', '', undefined])
      assert.equal(cpuQuota(root, text), Infinity);
  });

  it('bounds the cores, of which there is always one', () => {
    assert.deepEqual([availableCores(Infinity, 8), availableCores(3.9, 8), availableCores(0.5, 8)], [8, 3, 1]);
  });
});
