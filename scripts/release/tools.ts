import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Has its own lockfile, because only a release runs these programs: as dependencies of the project, each `npm ci` would install 390 packages
 * more. The override of node-fetch is for verdaccio-audit, which asks for a tag and not for a version.
 */
const SOURCE = join('scripts', 'release');
/** Outside of the sources, which builds, tests and the image copy. */
const FOLDER = join('.stack', 'release');
const LOCK = 'package-lock.json';

const PROGRAMS = {
  attw: '@arethetypeswrong/cli/dist/index.js',
  publint: 'publint/src/cli.js',
  verdaccio: 'verdaccio/bin/verdaccio',
} as const;

/** Installs the programs that only a release runs, unless they are installed. */
export async function tools(): Promise<string> {
  const wanted = await readFile(join(SOURCE, LOCK), 'utf8');
  // npm writes the second file last.
  const installed = await readFile(join(FOLDER, LOCK), 'utf8').catch(() => '');
  const isComplete = await readFile(join(FOLDER, 'node_modules', '.package-lock.json')).then(
    () => true,
    () => false,
  );
  if (installed === wanted && isComplete) return `already in ${FOLDER}`;
  await mkdir(FOLDER, { recursive: true });
  for (const file of ['package.json', LOCK]) await cp(join(SOURCE, file), join(FOLDER, file));
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false'];
  await promisify(execFile)('npm', ['ci', '--prefix', FOLDER, ...flags]);
  return Object.keys(PROGRAMS).join(', ');
}

/** The script of a program, for Node. */
export function toolPath(name: keyof typeof PROGRAMS): string {
  return join(FOLDER, 'node_modules', PROGRAMS[name]);
}
