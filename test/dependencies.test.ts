import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { licenceProblems } from '../scripts/release/licences.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  /** To a workspace of this repository. */
  readonly link?: boolean;
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as never;

const { packages } = read('package-lock.json') as { packages: Record<string, LockedPackage> };
/** Not this repository's own packages. */
const locked = Object.entries(packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);
const manifest = read('package.json') as Record<
  'dependencies' | 'devDependencies' | 'peerDependencies',
  Record<string, string>
>;

describe('the dependencies', () => {
  it('have licences that are allowed', () => {
    assert.deepEqual(licenceProblems({ packages }), []);
  });

  it('need no install script, so that `npm ci --ignore-scripts` is enough (S-85)', () => {
    assert.deepEqual(
      locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
      [],
    );
  });

  it('come from the registry, each with its hash (S-85)', () => {
    const refused = locked.filter(
      ([, { integrity, resolved }]) => !integrity?.startsWith('sha512-') || resolved !== undefined,
    );
    assert.deepEqual(
      refused.map(([path]) => path),
      [],
    );
  });

  it('have exact versions', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    assert.deepEqual(
      versions.filter(([name, version]) => name !== 'crier' && !/^\d+\.\d+\.\d+$/.test(version)),
      [],
    );
  });

  it('are explained, each in one row of docs/why/dependencies.md', () => {
    const rows = readFileSync('docs/why/dependencies.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`(.*?)`/g)].map(([, name]) => name!));
    const { dependencies, peerDependencies } = manifest;
    assert.deepEqual(named.sort(), Object.keys({ ...dependencies, ...peerDependencies }).sort());
  });

  it('are listed by `npm run sbom`, with licences, and without those of development (S-86)', async () => {
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sbom'], { maxBuffer: 64 * 1024 * 1024 });
    const bill = JSON.parse(stdout) as {
      bomFormat: string;
      components: { name: string; version: string; licenses?: object[]; hashes?: object[] }[];
    };
    assert.equal(bill.bomFormat, 'CycloneDX');
    const listed = new Map(bill.components.map((component) => [component.name, component]));
    for (const [name, version] of Object.entries(manifest.dependencies)) {
      if (packages[`node_modules/${name}`]?.link) continue;
      const component = listed.get(name);
      assert.equal(component?.version, version, name);
      assert.ok(component.licenses?.length && component.hashes?.length, name);
    }
    const installed = locked.filter(([, { dev }]) => !dev).map(([path]) => path.replace(/^.*node_modules\//, ''));
    const own = Object.values(packages).flatMap(({ link, resolved }) => (link && resolved ? [basename(resolved)] : []));
    assert.deepEqual([...listed.keys()].sort(), [...new Set([...installed, ...own])].sort());
  });
});
