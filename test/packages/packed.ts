import { execFile } from 'node:child_process';
import { cp, readdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import type { Scope } from '../support/socket.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const run = promisify(execFile);

const SOURCES = [
  'babel.config.js',
  'client',
  'create-crier',
  'directives.graphql',
  'examples/auction',
  'pages',
  'plugins',
  'scripts',
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const TEXTS = ['README.md', 'CHANGELOG.md', 'LICENSE'];

/** Names of the archives, without version. */
export type Package = 'crier-server' | 'crier-client' | 'crier-create' | 'crier-babel-plugin-proxy-lazy';

/** Packs every package in `dist/release` of a copy of this checkout: packing replaces dist/src for a moment, which other tests run. */
export async function packAll(scope: Scope): Promise<ReadonlyMap<Package, string>> {
  const folder = await temporaryFolder(scope);
  for (const name of [...SOURCES, ...TEXTS]) await cp(name, join(folder, name), { recursive: true });
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await run('npm', ['run', 'archives'], { cwd: folder });
  const destination = join(folder, 'dist', 'release');
  const archives = await readdir(destination);
  return new Map(archives.map((name) => [name.replace(/-\d.*$/, '') as Package, join(destination, name)]));
}

/** What `npm install` takes to install the server and what it needs, as projects name it: `crier`. */
export function serverOf(archives: ReadonlyMap<Package, string>): string[] {
  const others = (['crier-client', 'crier-babel-plugin-proxy-lazy'] as const).map((name) => archives.get(name)!);
  return [`crier@${archives.get('crier-server')!}`, ...others];
}

/** A project in which these archives and packages are installed by npm. */
export async function installed(t: TestContext, ...packages: readonly string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  await install(folder, ...packages);
  return folder;
}

/** Makes the folder a project, and installs archives and packages in it by npm. */
export async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }));
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false'];
  await run('npm', ['install', ...flags, ...packages], { cwd: folder });
}
