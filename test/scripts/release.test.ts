import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { billProblems } from '../../scripts/release/bill.ts';
import { sectionOf } from '../../scripts/release/changelogs.ts';
import { contentProblems } from '../../scripts/release/contents.ts';
import { licenceProblems } from '../../scripts/release/licences.ts';
import { entriesWithoutTypes } from '../../scripts/release/lint.ts';
import { readLock, readPackages } from '../../scripts/release/packages.ts';
import type { Manifest, Package } from '../../scripts/release/packages.ts';
import { manifestProblems, provenance } from '../../scripts/release/provenance.ts';
import { inOrder } from '../../scripts/release/publishing.ts';
import { Release } from '../../scripts/release/release.ts';
import { runSteps } from '../../scripts/release/steps.ts';
import { versionProblems } from '../../scripts/release/versions.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

const lock = await readLock();
const packages = await readPackages(lock);
const { version } = packages[0]!.manifest;
const chart = { version, appVersion: version };

/** These packages, where that of the folder has other fields. */
function changed(folder: string, fields: Partial<Manifest>): Package[] {
  return packages.map((entry) =>
    entry.folder === folder ? { folder, manifest: { ...entry.manifest, ...fields } } : entry,
  );
}

describe('the steps of a release', () => {
  const run = async (...groups: Parameters<typeof runSteps>[0]) => {
    const lines: string[] = [];
    const passed = await runSteps(groups, new Release(true, lock, packages), (line) => lines.push(line));
    return { passed, lines: lines.map((line) => line.replace(/ +\d+\.\d s/, '')) };
  };
  const failing = () => {
    throw new Error('a is wrong: mend it\nso is b');
  };

  it('print a line each, and what to mend; those of a group all run, the next group does not', async () => {
    const never = { name: 'three', run: () => assert.fail() };
    assert.deepEqual(
      await run(
        [
          { name: 'one', run: failing, fix: 'or try c' },
          { name: 'two', run: () => '2 found' },
        ],
        [never],
      ),
      {
        passed: false,
        lines: [
          'FAILED  one         a is wrong: mend it',
          '                  so is b',
          '                  or try c',
          'ok  two         2 found',
        ],
      },
    );
    assert.equal((await run([{ name: 'one', run: () => '' }])).passed, true);
  });

  it("leave the owner's part to the end of a dry run, and fail a release with it", () => {
    const dry = new Release(true, lock, packages);
    dry.leaveToOwner('push the tag');
    assert.deepEqual(dry.left, ['push the tag']);
    assert.throws(() => new Release(false, lock, packages).leaveToOwner('push the tag'), /push the tag/);
  });
});

describe('versions of a release', () => {
  it('are one', () => assert.deepEqual(versionProblems(packages, lock, chart), []));

  it('are named where they differ: packages, dependencies, lockfile and chart', () => {
    const other = changed('client', { version: '9.9.9' });
    assert.match(versionProblems(other, lock, chart).join(), /^client\/package\.json: 9\.9\.9, not .*npm version/);
    const asking = changed('.', { dependencies: { '@crier/client': '^9.9.9', ws: '1.0.0' } });
    assert.match(
      versionProblems(asking, lock, chart).join('\n'),
      /^\.\/package\.json, its dependency @crier\/client: \^9\.9\.9[^\n]*$/,
    );
    const entry = { ...lock.packages['client'], version: '9.9.9' };
    const stale = { packages: { ...lock.packages, client: entry } };
    assert.match(versionProblems(packages, stale, chart).join(), /^package-lock\.json, of @crier\/client: 9\.9\.9/);
    assert.match(
      versionProblems(packages, lock, { ...chart, appVersion: '9.9.9' }).join(),
      /Chart\.yaml, appVersion: 9/,
    );
  });
});

describe('a section of a changelog', () => {
  const today = new Date('2026-11-30T12:00:00Z');
  const section = (text: string) => sectionOf(`# Changelog\n\n${text}`, '1.2.0', today);

  it('has the version, a date of the past and a line', () => {
    assert.deepEqual(section('## 1.2.0 - 2026-11-30\n\n- one\n- two\n\n## 1.1.0 - 2026-01-01\n\n- old\n'), {
      lines: 2,
      date: '2026-11-30',
    });
  });

  it('is "Unreleased" until the version has one', () => {
    assert.deepEqual(section('## Unreleased\n\n- one\n\n## 1.1.0 - 2026-01-01\n\n- old\n'), { lines: 1 });
  });

  it('is refused when it is absent, empty, undated, or of the future', () => {
    for (const [text, problem] of [
      ['## 1.1.0 - 2026-01-01\n\n- old\n', /add a section "## Unreleased"/],
      ['## 1.2.01 - 2026-01-01\n\n- other\n', /add a section/],
      ['## 1.2.0 - 2026-11-30\n\n## 1.1.0 - 2026-01-01\n\n- old\n', /"1\.2\.0 - 2026-11-30" has no line/],
      ['## 1.2.0\n\n- one\n', /has no date of the past: write "1\.2\.0 - 2026-11-30"/],
      ['## 1.2.0 - 2026-12-01\n\n- one\n', /has no date of the past/],
      ['## 1.2.0 - 2026-13-01\n\n- one\n', /has no date of the past/],
    ] as const)
      assert.match(section(text).problem ?? '', problem, text);
  });
});

describe('provenance of a release', () => {
  it('has what it needs of each package', () => assert.deepEqual(manifestProblems(packages), []));

  it('is refused for a field that is absent or differs', () => {
    for (const [fields, problem] of [
      [{ name: '@other/client' }, /outside of @crier: run `npm run scope`/],
      [{ license: 'UNLICENSED' }, /license: expected MIT/],
      [{ engines: {} }, /engines\.node: expected >=/],
      [{ publishConfig: { access: 'public' } }, /publishConfig: expected/],
      [{ repository: { url: 'git+https://forge.example/a.git' } }, /repository: expected that of package\.json/],
    ] as const)
      assert.match(manifestProblems(changed('client', fields)).join(), problem);
  });

  it('needs a repository, and the forge that builds it', (t) => {
    const unnamed = changed('.', {});
    t.after(() => delete process.env['GITHUB_REPOSITORY']);
    delete process.env['GITHUB_REPOSITORY'];
    const dry = new Release(true, lock, unnamed);
    assert.match(provenance(dry), /no repository/);
    assert.match(dry.left.join(), /has no repository: .*npm run scope/);
    const repository = { type: 'git', url: 'git+https://forge.example/town/crier.git' };
    const named = packages.map(({ folder, manifest }) => ({
      folder,
      manifest: { ...manifest, repository: { ...repository, directory: folder } },
    }));
    assert.throws(() => provenance(new Release(false, lock, named)), /release\.yml.*push the tag/);
    process.env['GITHUB_REPOSITORY'] = 'town/other';
    process.env['GITHUB_SERVER_URL'] = 'https://forge.example';
    assert.throws(
      () => provenance(new Release(false, lock, named)),
      /and this is git\+https:\/\/forge\.example\/town\/other/,
    );
    process.env['GITHUB_REPOSITORY'] = 'town/crier';
    assert.match(provenance(new Release(false, lock, named)), /town\/crier\.git, MIT/);
  });
});

describe('contents of a release', () => {
  const { manifest } = packages.find(({ folder }) => folder === 'client')!;
  const files = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'dist/client.js', 'dist/client.d.ts'];

  it('are what the manifest names, and nothing that is not allowed', () => {
    assert.deepEqual(contentProblems('client', manifest, files), []);
    assert.match(contentProblems('client', manifest, files.slice(0, -1)).join(), /lacks dist\/client\.d\.ts/);
    assert.match(contentProblems('client', manifest, files.slice(1)).join(), /lacks package\.json/);
    assert.match(contentProblems('client', manifest, [...files, '.env']).join(), /has \.env: exclude it by "files"/);
  });

  it('have types but where an entry point is a text', () => {
    const exports = {
      '.': './a.js',
      './b': './b.js',
      './c.graphql': './c.graphql',
      './package.json': './package.json',
    };
    assert.deepEqual(entriesWithoutTypes({ ...manifest, exports }), ['./c.graphql']);
  });

  it('have licences of the list', () => {
    const gpl = { packages: { 'node_modules/x': { license: 'GPL-3.0' }, 'node_modules/y': {}, client: {} } };
    assert.match(
      licenceProblems(gpl).join('\n'),
      /^node_modules\/x: GPL-3\.0 is not .*\nnode_modules\/y: no licence is not .*$/,
    );
  });

  it('have a bill of materials with each dependency, its licence and its hash', () => {
    const component = { 'bom-ref': 'ws@1.0.0', licenses: [{}], hashes: [{}] };
    const bill = {
      bomFormat: 'CycloneDX',
      components: [component, { 'bom-ref': '@crier/client@0.1.0', licenses: [{}] }],
    };
    const own = new Set(['@crier/client']);
    assert.deepEqual(billProblems(bill, { ws: '1.0.0' }, own), []);
    assert.match(billProblems(bill, { ws: '1.0.1' }, own).join(), /^ws@1\.0\.1 is absent/);
    assert.match(billProblems(bill, {}, new Set()).join(), /^@crier\/client@0\.1\.0 has no hash/);
  });

  it('are published before what depends on them', () => {
    const names = inOrder(packages).map(({ manifest }) => manifest.name.split('/')[1]);
    assert.deepEqual(names, ['babel-plugin-proxy-lazy', 'client', 'server', 'create']);
  });
});

describe('npm version', () => {
  it('gives every package, range and text the version, and dates the changelogs', async (t) => {
    const folder = await temporaryFolder(t);
    const { stdout } = await run('git', [
      'ls-files',
      'deploy',
      'docs',
      '*package*.json',
      '*CHANGELOG.md',
      '.prettierrc.json',
    ]);
    for (const file of [...stdout.trimEnd().split('\n'), 'scripts/version.js'])
      await cp(file, join(folder, file), { recursive: true });
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, '.gitignore'), 'node_modules\n');
    const git = (...words: string[]) => run('git', words, { cwd: folder });
    await git('init', '-q');
    await git('config', 'user.name', 'test');
    await git('config', 'user.email', 'test@localhost');
    await git('add', '-A');
    await git('commit', '-qm', 'first');
    await run('npm', ['version', '9.8.7'], { cwd: folder });
    assert.equal((await git('status', '--porcelain')).stdout, '');
    assert.equal((await git('tag', '--points-at', 'HEAD')).stdout, 'v9.8.7\n');
    const left = await git('grep', '-nwF', version, '--', 'deploy', '*package.json', 'docs/operate/versions.md').catch(
      () => undefined,
    );
    assert.deepEqual(left?.stdout.split('\n').filter((line) => !/10\.1\.0\.0|scripts\/release/.test(line)) ?? [''], [
      '',
    ]);
    const read = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8')) as never;
    const after = await Promise.all(
      packages.map(async (entry) => ({
        ...entry,
        manifest: await read(join(entry.folder, 'package.json')),
      })),
    );
    const newChart = { version: '9.8.7', appVersion: '9.8.7' };
    assert.deepEqual(versionProblems(after, await read('package-lock.json'), newChart), []);
    assert.match(await readFile(join(folder, 'client', 'CHANGELOG.md'), 'utf8'), /^## 9\.8\.7 - \d{4}-\d\d-\d\d$/m);
  });
});
