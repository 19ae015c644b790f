import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Packages of a test that are no dependencies of crier's development: a folder with a package.json and a lockfile. */
export class OwnPackages {
  readonly #folder: string;

  constructor(...folder: readonly string[]) {
    this.#folder = resolve(...folder);
  }

  /** Installs them unless they are installed. Runs no install scripts. */
  install(): void {
    // npm writes this file last.
    if (existsSync(join(this.#folder, 'node_modules', '.package-lock.json'))) return;
    // `npm test` passes on this project's engine-strict, and some packages name a newer Node than they need.
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--engine-strict=false', '--loglevel=error'];
    execFileSync('npm', ['ci', '--prefix', this.#folder, ...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
  }

  /** Imports a module of one of them, or a file of the folder (`./file.js`). */
  async import<Exports>(name: string): Promise<Exports> {
    const file = createRequire(join(this.#folder, 'package.json')).resolve(name);
    return (await import(pathToFileURL(file).href)) as Exports;
  }
}
