import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { temporaryFolder } from './support/temporary-folder.ts';

/** Runs `.ci/run` where npm and node are these scripts. */
async function runWith(t: TestContext, npm: string) {
  const folder = await temporaryFolder(t);
  for (const name of ['.ci', 'bin']) await mkdir(join(folder, name));
  await copyFile(join('.ci', 'run'), join(folder, '.ci', 'run'));
  for (const [name, script] of Object.entries({ npm, node: 'exit 0' })) {
    const path = join(folder, 'bin', name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }
  const { status, stdout } = spawnSync(join(folder, '.ci', 'run'), {
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  const summary = stdout.slice(stdout.indexOf('=== summary'));
  const lines = summary.split('\n').map((line) => line.replace(/^(ok|FAILED) +\d+ s +/, '$1: '));
  return { status, stdout, lines };
}

describe('.ci/run', () => {
  it('ends with 0 when every step passes', async (t) => {
    const { status, lines } = await runWith(t, 'exit 0');
    assert.equal(status, 0);
    assert.ok(lines.includes('ok: npm test -- faults'));
    assert.ok(!lines.join('\n').includes('FAILED'));
  });

  it('runs the steps after a failed one, and names the failed tests at the end of its output', async (t) => {
    const npm = `case "$*" in
      test) echo "✖ a title"; echo "FAILED: a suite › a title (test/a.test.ts:1): boom" >&2; exit 1 ;;
      "run check") seq 100; exit 2 ;;
    esac`;
    const { status, stdout, lines } = await runWith(t, npm);
    assert.equal(status, 1);
    assert.ok(stdout.includes('✖ a title'));
    const at = lines.indexOf('FAILED: npm run check');
    assert.deepEqual(
      lines.slice(at + 1, at + 16),
      Array.from({ length: 15 }, (_, index) => `    ${86 + index}`),
    );
    assert.match(lines[at + 16]!, /^FAILED: npm test \(Node/);
    assert.equal(lines[at + 17], '    FAILED: a suite › a title (test/a.test.ts:1): boom');
    assert.equal(lines[at + 18], 'ok: npm run test:pods');
    assert.ok(lines.length < 60);
  });

  it('stops after a failed installation', async (t) => {
    const { status, lines } = await runWith(t, '[ "$1" != ci ]');
    assert.equal(status, 1);
    assert.deepEqual(lines.slice(1), ['FAILED: npm ci', '', '']);
  });
});
