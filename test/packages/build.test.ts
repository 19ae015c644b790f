import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  realpath,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

/** A checkout of its own with these files in src/ (`crier`: all of crier's), which shares node_modules. */
async function checkout(t: TestContext, files: Readonly<Record<string, string>> | 'crier'): Promise<string> {
  return checkoutIn(await temporaryFolder(t), files);
}

async function checkoutIn(folder: string, files: Readonly<Record<string, string>> | 'crier'): Promise<string> {
  for (const name of [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'babel.config.js',
    'plugins',
    'scripts',
    'pages',
    'client',
    'README.md',
  ]) {
    await cp(name, join(folder, name), { recursive: true, filter: (path) => path !== join('client', 'dist') });
  }
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  if (files === 'crier')
    for (const name of ['src', 'examples/auction']) await cp(name, join(folder, name), { recursive: true });
  else for (const [name, text] of Object.entries(files)) await save(folder, name, text);
  return folder;
}

async function save(folder: string, name: string, text: string): Promise<void> {
  await mkdir(join(folder, 'src', name, '..'), { recursive: true });
  await writeFile(join(folder, 'src', name), text);
}

const SMALL = { 'main.ts': "export { text } from './text.ts';\n", 'text.ts': "export const text: string = 'one';\n" };

function build(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const env = { ...process.env, REVISION: '', ...environment };
  const parts = existsSync(join(folder, 'examples')) ? ['src', 'examples'] : ['src'];
  return run(process.execPath, ['scripts/build.js', ...parts], { cwd: folder, env });
}

const builtText = (folder: string) => readFile(join(folder, 'dist', 'src', 'text.js'), 'utf8');

describe('npm run build', { concurrency: 2 }, () => {
  it('compiles nothing when no input has changed, and the affected parts when one has', async (t) => {
    const folder = await checkout(t, SMALL);
    await build(folder);
    const first = await realpath(join(folder, 'dist', 'src'));
    const { ctimeMs } = await lstat(join(first, 'text.js'));
    await build(folder);
    assert.equal(await realpath(join(folder, 'dist', 'src')), first);
    assert.equal((await lstat(join(first, 'text.js'))).ctimeMs, ctimeMs);

    for (const [name, text] of [
      [join('src', 'text.ts'), "export const text: string = 'two';\n"],
      ['package-lock.json', '{}\n'],
      ['babel.config.js', `${await readFile('babel.config.js', 'utf8')}\n`],
    ] as const) {
      const before = await realpath(join(folder, 'dist', 'src'));
      await writeFile(join(folder, name), text);
      await build(folder);
      assert.notEqual(await realpath(join(folder, 'dist', 'src')), before, name);
    }
    assert.match(await builtText(folder), /'two'/);
  });

  it('bundles the modules of main: what it runs is in chunks, and stack traces name the sources', async (t) => {
    const folder = await checkout(t, {
      'main.ts': `import { fail } from './deep/fail.ts';\nconst { later } = await import('./later.ts');\nfail(later);\n`,
      'deep/fail.ts': `interface Unused {\n  a: 1;\n}\nexport const fail = (text: string): never => {\n  throw new Error(text + import.meta.url + import.meta.dirname);\n};\n`,
      'later.ts': `export const later = 'thrown in ';\n`,
    });
    await build(folder);
    const built = await realpath(join(folder, 'dist', 'src'));
    assert.deepEqual(
      (await readdir(join(built, 'bundle'))).filter((name) => /^(?!rolldown-runtime).*\.js$/.test(name)),
      ['later.js', 'main.js'],
    );
    // Only the bundle runs.
    for (const name of ['deep/fail.js', 'later.js']) await writeFile(join(built, name), 'throw new Error("alone");');
    const failure = run(process.execPath, ['--enable-source-maps', join(folder, 'dist', 'src', 'main.js')]);
    const { stderr } = await failure.then(
      () => assert.fail('it ran'),
      (error: { stderr: string }) => error,
    );
    assert.ok(stderr.includes(`thrown in ${pathToFileURL(join(built, 'deep', 'fail.js')).href}`), stderr);
    assert.ok(stderr.includes(`${join(folder, 'src', 'deep', 'fail.ts')}:5:`), stderr);
    assert.ok(stderr.includes(`${join(folder, 'src', 'main.ts')}:3:`), stderr);
  });

  it('replaces a build atomically, and keeps the old build for processes that run it', async (t) => {
    const folder = await checkout(t, SMALL);
    await build(folder);
    const old = await realpath(join(folder, 'dist', 'src'));
    await save(folder, 'text.ts', "export const text: string = 'two';\n");
    let isDone = false;
    const building = build(folder).finally(() => (isDone = true));
    const seen = new Set<string>();
    while (!isDone) {
      // Throws where there is nothing.
      for (let i = 0; i < 100; i++) seen.add(readFileSync(join(folder, 'dist', 'src', 'text.js'), 'utf8').slice(0, 26));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await building;
    seen.add((await builtText(folder)).slice(0, 26));
    assert.deepEqual([...seen], ["export const text = 'one';", "export const text = 'two';"]);
    assert.match(await readFile(join(old, 'text.js'), 'utf8'), /'one'/);
    assert.ok((await readFile(join(old, 'gateway', 'http', 'graphiql', 'graphiql.js.gz'))).length > 0);
  });

  it('runs several times at once, and leaves nothing but the build', async (t) => {
    const folder = await checkout(t, SMALL);
    await Promise.all([build(folder), build(folder), build(folder)]);
    const names = await readdir(join(folder, 'dist'));
    assert.deepEqual(names.sort(), ['src', await readlink(join(folder, 'dist', 'src'))]);
    assert.match(await builtText(folder), /'one'/);
  });

  it('says that the packages are not installed, without a stack', async (t) => {
    const folder = await checkout(t, SMALL);
    await rm(join(folder, 'node_modules'));
    await assert.rejects(build(folder), ({ stderr }: { stderr: string }) => {
      assert.equal(stderr, 'build: the packages are not installed: run `npm ci` first\n');
      return true;
    });
  });

  it('keeps the last build when it fails', async (t) => {
    const folder = await checkout(t, SMALL);
    await build(folder);
    await save(folder, 'text.ts', 'export const text: = ;\n');
    await assert.rejects(build(folder), /text\.ts/);
    assert.match(await builtText(folder), /'one'/);
    assert.equal((await readdir(join(folder, 'dist'))).length, 2);
  });

  it('removes builds that were replaced more than a day ago, and no other', async (t) => {
    const folder = await checkout(t, SMALL);
    const builds: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      await save(folder, 'text.ts', `export const text: string = '${text}';\n`);
      await build(folder);
      builds.push(await readlink(join(folder, 'dist', 'src')));
      const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
      // One was replaced long ago; two was made long ago, but is replaced now.
      if (text !== 'three') await utimes(join(folder, 'dist', builds[0]!), longAgo, longAgo);
      if (text === 'two') await utimes(join(folder, 'dist', builds[1]!), longAgo, longAgo);
    }
    assert.deepEqual((await readdir(join(folder, 'dist'))).sort(), ['src', builds[1]!, builds[2]!].sort());
  });

  it('removes what a build that was interrupted left behind a day ago', async (t) => {
    const folder = await checkout(t, SMALL);
    const dist = join(folder, 'dist');
    // The draft of the revision cannot replace a folder.
    await mkdir(join(dist, 'revision'), { recursive: true });
    await assert.rejects(build(folder, { REVISION: '33019c5f06a1' }), /revision/);
    await rm(join(dist, 'revision'), { recursive: true });
    const isDraft = (name: string) => name.startsWith('.');
    const drafts = (await readdir(dist)).filter(isDraft);
    assert.equal(drafts.length, 1);
    const longAgo = new Date(Date.now() - 25 * 60 * 60_000);
    await utimes(join(dist, drafts[0]!), longAgo, longAgo);
    await save(folder, 'text.ts', "export const text: string = 'two';\n");
    await build(folder);
    assert.deepEqual((await readdir(dist)).filter(isDraft), []);
  });

  it('replaces a folder at the path of the link', async (t) => {
    const folder = await checkout(t, SMALL);
    await mkdir(join(folder, 'dist', 'src'), { recursive: true });
    await writeFile(join(folder, 'dist', 'src', 'main.js'), 'of a time before');
    await build(folder);
    assert.match(await builtText(folder), /'one'/);
  });
});

describe('the revision of a build', () => {
  const git = async (folder: string, ...words: string[]) => {
    const user = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
    return (await run('git', [...user, ...words], { cwd: folder })).stdout.trim();
  };

  /** Makes the folder a repository with one commit, and returns its name. */
  const commitIn = async (folder: string) => {
    await git(folder, 'init', '--quiet');
    await git(folder, 'add', 'README.md');
    await git(folder, 'commit', '--quiet', '--message=first');
    return git(folder, 'rev-parse', '--short=12', 'HEAD');
  };

  const revisionOf = async (folder: string, environment?: Readonly<Record<string, string>>) => {
    await build(folder, environment);
    return readFile(join(folder, 'dist', 'revision'), 'utf8').catch(() => 'none');
  };

  it("is REVISION's, else the commit of the checkout, else none, and follows the version", async (t) => {
    const main = "import { readVersion } from './base/version.ts';\nprocess.stdout.write(readVersion());\n";
    const folder = await checkout(t, {
      ...SMALL,
      'main.ts': main,
      'base/version.ts': await readFile('src/base/version.ts', 'utf8'),
    });
    const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
    const builtVersion = async (environment?: Readonly<Record<string, string>>) => {
      await build(folder, environment);
      return (await run(process.execPath, [join(folder, 'dist', 'src', 'main.js')])).stdout;
    };
    assert.equal(await builtVersion(), version);
    const commit = await commitIn(folder);
    assert.equal(await builtVersion(), `${version}+${commit}`);
    await writeFile(join(folder, 'README.md'), 'changed');
    assert.equal(await builtVersion(), `${version}+${commit}-dirty`);
    assert.equal(await builtVersion({ REVISION: '33019c5f06a1' }), `${version}+33019c5f06a1`);
  });

  it('is not the commit of a repository around the checkout', async (t) => {
    const outer = await temporaryFolder(t);
    await writeFile(join(outer, 'README.md'), 'another project');
    await commitIn(outer);
    const folder = await checkoutIn(join(outer, 'crier'), SMALL);
    assert.equal(await revisionOf(folder), 'none');
    const commit = await commitIn(folder);
    assert.equal(await revisionOf(folder), commit);
  });

  it("is found without a write to the repository's index, and without its lock", async (t) => {
    const folder = await checkout(t, SMALL);
    const commit = await commitIn(folder);
    // The index has another time of this file, so most commands of git write the index anew.
    await utimes(join(folder, 'README.md'), 1, 1);
    const index = join(folder, '.git', 'index');
    const before = await readFile(index);
    assert.equal(await revisionOf(folder), commit);
    assert.deepEqual(await readFile(index), before);
    await git(folder, 'describe', '--always', '--dirty');
    assert.notDeepEqual(await readFile(index), before, 'twin: git describe writes it');
  });
});

describe('a pod whose checkout is built again', () => {
  it('continues to run, with the modules that it loads later', async (t) => {
    const folder = await checkout(t, 'crier');
    await build(folder);
    const pod = await spawnPod(t, {}, { main: join(folder, 'dist', 'src', 'main.js') }).started();
    await writeFile(join(folder, 'pages', 'graphiql', 'page.css'), 'of the second build');
    await build(folder);
    const url = new URL('/graphiql/page.css', pod.endpoint);
    assert.equal(await (await fetch(url)).text(), await readFile('pages/graphiql/page.css', 'utf8'));
    const second = await spawnPod(t, {}, { main: join(folder, 'dist', 'src', 'main.js') }).started();
    assert.equal(await (await fetch(new URL('/graphiql/page.css', second.endpoint))).text(), 'of the second build');
    assert.equal(await pod.stop(), 0);
  });
});

describe('npm pack', () => {
  it('packs licence, changelog and README into each package', async () => {
    const flags = ['--workspaces', '--include-workspace-root', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await run('npm', ['pack', ...flags]);
    const packages = JSON.parse(stdout) as { name: string; files: { path: string }[] }[];
    const texts = ['CHANGELOG.md', 'LICENSE', 'README.md'];
    assert.deepEqual(
      packages.map(({ name, files }) => [name, files.map(({ path }) => path).filter((path) => texts.includes(path))]),
      ['@crier/server', '@crier/client', '@crier/create', '@crier/babel-plugin-proxy-lazy'].map((name) => [
        name,
        texts,
      ]),
    );
  });

  it('packs the build as files and no tests, and leaves the link behind', async (t) => {
    const folder = await checkout(t, 'crier');
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json'], { cwd: folder });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    for (const path of [
      'dist/src/main.js',
      'dist/src/bundle/main.js',
      'dist/examples/auction/schema.graphql',
      'dist/examples/auction/resolvers.js',
      'dist/src/gateway/http/graphiql/graphiql.js.gz',
      'babel.config.js',
    ])
      assert.ok(paths.includes(path), path);
    assert.deepEqual(
      paths.filter((path) => !path.startsWith('dist/src/library/testing') && /test|loadtest|fixtures|^src/.test(path)),
      [],
    );
    assert.ok((await lstat(join(folder, 'dist', 'src'))).isSymbolicLink());
  });
});
