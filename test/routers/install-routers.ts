import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A package of its own: the routers weigh 150 MB and are no dependencies of crier's development. */
const FOLDER = resolve('test', 'routers', 'fixtures', 'routers');

/** Installs the routers unless they are installed. Runs no install scripts. */
export function installRouters(): void {
  // npm writes this file last.
  if (existsSync(join(FOLDER, 'node_modules', '.package-lock.json'))) return;
  // `npm test` passes on this project's engine-strict, and some of their packages name a newer Node than they need.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false', '--loglevel=error'];
  execFileSync('npm', ['ci', '--prefix', FOLDER, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Imports a module of a router. */
export async function importRouter<Exports>(name: string): Promise<Exports> {
  const file = createRequire(join(FOLDER, 'package.json')).resolve(name);
  return (await import(pathToFileURL(file).href)) as Exports;
}
