import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { freePorts } from '../../stack/port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PACKAGES = 'redis-server default-jre-headless maven kcat chromium procps prometheus openssl zsh fish';
const PROGRAMS = 'redis-server java mvn kcat chromium ps prometheus openssl';

interface Outcome {
  readonly code: number | null;
  readonly errors: string;
  /** Arguments of each call of apt-get. */
  readonly calls: string[];
}

/** Runs a script of dist/ where only apt-get is on the PATH, a shell script of these lines, as the user with this id. */
async function runThere(t: TestContext, script: string, lines: readonly string[], uid = 0): Promise<Outcome> {
  const folder = await temporaryFolder(t);
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const calls = join(folder, 'calls');
  const log = `echo "$*" >> '${calls}'`;
  await writeFile(join(bin, 'apt-get'), ['#!/bin/sh', log, ...lines].join('\n'), { mode: 0o755 });
  const [kafkaPort, redisPort] = await freePorts(2);
  const identity = join(folder, 'identity.cjs');
  await writeFile(identity, `process.getuid = () => ${uid};`);
  const child = spawn(process.execPath, ['--require', identity, script], {
    env: { PATH: bin, FOLDER: folder, KAFKA_PORT: `${kafkaPort}`, REDIS_PORT: `${redisPort}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const text = await readFile(calls, 'utf8').catch(() => '');
  return { code, errors, calls: text.split('\n').filter((line) => line !== '') };
}

const INSTALL = `install -y -q --no-install-recommends ${PACKAGES}`;
/** Brings what it is asked for. */
const INSTALLS = [
  'case "$1" in install)',
  `  for program in ${PROGRAMS}; do echo '#!/bin/sh' > "$FOLDER/bin/$program"; done`,
  'esac',
];
const SCRIPT = 'dist/stack/install-programs.js';

describe('installPrograms', { concurrency: 2 }, () => {
  it('installs missing programs as root, and reports it', async (t) => {
    const { code, errors, calls } = await runThere(t, SCRIPT, INSTALLS);
    assert.deepEqual([code, calls], [0, ['update -q', INSTALL]]);
    assert.equal(errors, `Installing ${PACKAGES} by apt-get ...\n`);
  });

  it('waits for another apt-get', async (t) => {
    const held = (name: string) =>
      `if [ "$1" = ${name} ] && ! [ -e "$FOLDER/${name}" ]; then : > "$FOLDER/${name}"; ` +
      `echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1' >&2; exit 100; fi`;
    const { code, errors, calls } = await runThere(t, SCRIPT, [held('update'), held('install'), ...INSTALLS]);
    assert.deepEqual([code, calls], [0, ['update -q', 'update -q', INSTALL, INSTALL]]);
    assert.match(errors, /Waiting for another apt-get/);
  });

  it('reports the output of apt-get when it fails for another reason', async (t) => {
    const { code, errors, calls } = await runThere(t, SCRIPT, [
      'echo "E: Unable to locate package kcat" >&2; exit 100',
    ]);
    assert.deepEqual([code, calls], [1, ['update -q']]);
    assert.match(errors, /failed \(100\): apt-get update -q\nE: Unable to locate package kcat\n$/);
  });

  it('names the command to a user who may not install', async (t) => {
    const { code, errors, calls } = await runThere(t, SCRIPT, INSTALLS, 1000);
    assert.deepEqual([code, calls], [1, []]);
    assert.match(errors, new RegExp(`^missing on this machine: redis-server, java.*apt-get install .*${PACKAGES}\n$`));
  });
});

describe('what a command needs of the machine', { concurrency: 2 }, () => {
  for (const [command, script] of [
    ['npm test', 'dist/test/run.js'],
    ['npm run stack', 'dist/stack/stack.js'],
  ] as const) {
    it(`is installed by ${command}`, async (t) => {
      const { code, errors, calls } = await runThere(t, script, ['[ "$1" = update ] || exit 3']);
      assert.equal(code, 1);
      assert.match(errors, /Installing redis-server default-jre-headless maven kcat.* by apt-get/);
      assert.match(calls.at(-1)!, /^install .*redis-server.*kcat/);
    });

    it(`is named by ${command} to a user who may not install`, async (t) => {
      const { code, errors, calls } = await runThere(t, script, [], 1000);
      assert.deepEqual([code, calls], [1, []]);
      assert.match(errors, /missing on this machine: .*apt-get update && apt-get install .*redis-server/);
    });
  }
});
