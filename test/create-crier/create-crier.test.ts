import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** `npm create @crier <args>` in a folder of this test's own, which may be given. */
async function create(t: TestContext, args: readonly string[], folder?: string) {
  return runIn(await temporaryFolder(t), args, folder ?? (await temporaryFolder(t)));
}

/** Runs a copy of the package in this folder, which is `node_modules/@crier` where npm has installed it, or a clone of crier. */
async function runIn(above: string, args: readonly string[], cwd: string) {
  const copy = join(above, 'create-crier');
  await cp('create-crier', copy, { recursive: true });
  return new Promise<{ cwd: string; code: unknown; output: string; errors: string }>((resolve) => {
    execFile(process.execPath, [join(copy, 'main.js'), ...args], { cwd }, (error, output, errors) =>
      resolve({ cwd, code: error?.code ?? 0, output, errors }),
    );
  });
}

const readJson = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;

describe('@crier/create', () => {
  it('has the version of crier, and asks for it', async (t) => {
    const { cwd } = await create(t, ['App 1']);
    const { version } = await readJson('package.json');
    assert.equal((await readJson('create-crier/package.json'))['version'], version);
    const manifest = await readJson(join(cwd, 'App 1', 'package.json'));
    assert.equal(manifest['name'], 'app-1');
    assert.deepEqual(manifest['dependencies'], {
      crier: `npm:@crier/server@^${version as string}`,
      graphql: '^16.15.0',
    });
    assert.deepEqual(manifest['scripts'], {
      start: 'crier start graph',
      dev: 'crier dev graph',
      check: 'crier check graph',
    });
  });

  it('makes a graph that loads without warnings, and prints the commands that start it', async (t) => {
    const { cwd, code, output } = await create(t, []);
    assert.equal(code, 0);
    assert.match(output, /\n {2}cd crier-app\n {2}npm install\n {2}npm run dev\n/);
    const project = join(cwd, 'crier-app');
    assert.deepEqual((await readdir(project)).sort(), [
      '.gitignore',
      'README.md',
      'graph',
      'package.json',
      'tsconfig.json',
    ]);
    const graph = await loadGraph(join(project, 'graph'));
    assert.deepEqual(graph.warnings, []);
    const [first] = graph.samples!.records(1);
    assert.equal(first!.topic, 'orders');
    JSON.parse(await readFile(join(project, 'tsconfig.json'), 'utf8'));
  });

  it('depends on the archives of the clone that it is in, and names the command that packs them', async (t) => {
    const folder = await temporaryFolder(t);
    const clone = join(folder, "it's crier");
    await mkdir(clone);
    await cp('package.json', join(clone, 'package.json'));
    const { version } = (await readJson('package.json')) as { version: string };
    const archives = [
      ['crier', 'crier-server'],
      ['@crier/client', 'crier-client'],
      ['@crier/babel-plugin-proxy-lazy', 'crier-babel-plugin-proxy-lazy'],
    ].map(([name, archive]) => [name!, `dist/release/${archive}-${version}.tgz`] as const);

    const before = await runIn(clone, ['apps/one'], folder);
    assert.equal(before.errors, '');
    const packing = String.raw`(cd 'it'\''s crier' && npm ci && npm run archives)`;
    assert.ok(before.output.includes(`\n  ${packing}\n  cd apps/one\n  npm install\n  npm run dev\n`), before.output);
    assert.deepEqual((await readJson(join(folder, 'apps/one/package.json')))['dependencies'], {
      ...Object.fromEntries(archives.map(([name, path]) => [name, `file:../../it's crier/${path}`])),
      graphql: '^16.15.0',
    });

    await mkdir(join(clone, 'dist', 'release'), { recursive: true });
    for (const [, path] of archives) await writeFile(join(clone, path), '');
    const { output } = await runIn(clone, ['two'], folder);
    assert.match(output, /Next:\n\n {2}cd two\n {2}npm install\n/);
  });

  it('leaves the graph to crier init where records are named', async (t) => {
    const { cwd, output } = await create(t, ['.', '--topic', 'orders']);
    assert.match(
      output,
      /\n {2}npm install\n {2}KAFKA_BROKERS=localhost:9092 npx --no-install crier init graph --topic orders\n {2}npm run dev\n/,
    );
    assert.doesNotMatch(output, /cd /);
    assert.ok(!(await readdir(cwd)).includes('graph'));
    const { output: sample } = await create(t, ['.', '--sample', "it's.json"]);
    assert.ok(sample.includes(String.raw`npx --no-install crier init graph --sample 'it'\''s.json'`));
  });

  it('names the file of sample records as it is seen from the project', async (t) => {
    for (const [folder, sample, printed] of [
      ['my-app', 'records.json', '../records.json'],
      ['apps/my-app', './data/records.json', '../../data/records.json'],
      ['my-app', '/tmp/records.json', '/tmp/records.json'],
      ['my-app', '-', '-'],
    ] as const) {
      const { output } = await create(t, [folder, '--sample', sample]);
      assert.ok(output.includes(`npx --no-install crier init graph --sample ${printed}\n`), output);
    }
  });

  it('writes nothing into a folder that is not empty, but beside a repository', async (t) => {
    const cwd = await temporaryFolder(t);
    await mkdir(join(cwd, '.git'));
    assert.equal((await create(t, ['.'], cwd)).code, 0);
    const folder = await temporaryFolder(t);
    await writeFile(join(folder, 'mine.txt'), '');
    const { code, errors } = await create(t, ['.'], folder);
    assert.equal(code, 1);
    assert.match(errors, /create-crier: \. is not empty \(it has mine\.txt\); name a folder that is empty or new/);
    assert.deepEqual(await readdir(folder), ['mine.txt']);
  });

  it('exits with 2 and its usage for arguments that it does not have', async (t) => {
    for (const [args, problem] of [
      [['a', '--topik', 'x'], /^create-crier: unknown option "--topik"; options are --topic, --sample, --help\n/],
      [['-t', 'x'], /^create-crier: unknown option "-t"; options are --topic, --sample, --help\n/],
      [['a', 'orders'], /^create-crier: one folder is expected, got a, orders; npm passes on only options after --\n/],
      [['--topic'], /^create-crier: .*--topic <value>/],
    ] as const) {
      const { cwd, code, errors } = await create(t, args);
      assert.equal(code, 2);
      assert.match(errors, problem);
      assert.match(errors, /Usage: npm create @crier \[folder\]/);
      assert.deepEqual(await readdir(cwd), []);
    }
    assert.match((await create(t, ['--help'])).output, /^Makes a project for crier/);
  });
});
