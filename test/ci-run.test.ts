import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { NAMED_ONLY } from './support/selection.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

/** Runs a script of `.ci` where npm and node are these scripts. */
async function runWith(t: TestContext, npm: string, command: readonly string[] = ['run']) {
  const folder = await temporaryFolder(t);
  await cp('.ci', join(folder, '.ci'), { recursive: true });
  await mkdir(join(folder, 'bin'));
  for (const [name, script] of Object.entries({ npm, node: 'exit 0' })) {
    const path = join(folder, 'bin', name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }
  const [script = '', ...rest] = command;
  const { status, stdout, stderr } = spawnSync(join(folder, '.ci', script), rest, {
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
    encoding: 'utf8',
  });
  const summary = stdout.slice(stdout.indexOf('=== summary'));
  const lines = summary.split('\n').map((line) => line.replace(/^(ok|FAILED) +\d+ s +/, '$1: '));
  return { status, stdout, stderr, lines };
}

describe('.ci/run', () => {
  it('ends with 0 when every step passes', async (t) => {
    const { status, lines } = await runWith(t, 'exit 0');
    assert.equal(status, 0);
    assert.ok(lines.includes('ok: npm test -- faults'));
    assert.ok(!lines.join('\n').includes('FAILED'));
  });

  it('names the flaky tests of a step that passed', async (t) => {
    const line = 'FLAKY, passed when its file ran once more: a suite › a title (test/a.test.ts:1): boom';
    const { status, lines } = await runWith(t, `[ "$*" = test ] && echo "${line}"; exit 0`);
    assert.equal(status, 0);
    const at = lines.findIndex((text) => text.startsWith('ok: npm test (Node'));
    assert.equal(lines[at + 1], `    ${line}`);
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
    assert.deepEqual(lines.slice(1), ['FAILED: npm ci', '']);
  });
});

describe('.ci/full', () => {
  it('lists its steps, and runs those that it is given', async (t) => {
    const { stdout } = await runWith(t, 'exit 0', ['full', '--list']);
    assert.ok(stdout.split('\n').includes('routers'));
    const { status, lines } = await runWith(t, 'exit 0', ['full', 'routers', 'soak']);
    assert.equal(status, 0);
    assert.deepEqual(lines.slice(3, -1), ['ok: npm test -- routers', 'ok: npm run bench:soak, 3 minutes']);
  });

  it('refuses a step that it does not have, and names those that it has', async (t) => {
    const { status, stderr } = await runWith(t, 'exit 0', ['full', 'router']);
    assert.equal(status, 2);
    assert.match(stderr, /^no step 'router'; there are: deploy .*routers/);
  });

  it('has a step for each folder of tests that runs only when it is named', async (t) => {
    const { stdout } = await runWith(t, 'exit 0', ['full', '--list']);
    for (const folder of NAMED_ONLY) assert.ok(stdout.split('\n').includes(folder), folder);
  });
});
