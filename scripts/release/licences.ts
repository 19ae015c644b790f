import type { Lock } from './packages.ts';
import { refuse } from './release.ts';
import type { Release } from './release.ts';

/** Licences that allow crier's use without conditions on its own code. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]);

/** By package: data that is used as it is, and tools that are not installed with crier. */
const OTHER_LICENCES: Readonly<Record<string, string>> = {
  'node_modules/argparse': 'Python-2.0',
  'node_modules/axe-core': 'MPL-2.0',
  'node_modules/caniuse-lite': 'CC-BY-4.0',
  'node_modules/markdown-it/node_modules/argparse': 'PSF-2.0',
};

export function licences({ lock }: Release): string {
  refuse(licenceProblems(lock));
  const found = new Set(foreignPackages(lock).map(([, { license }]) => license));
  return `${foreignPackages(lock).length} packages of ${found.size} licences`;
}

/** `node_modules/x: GPL-3.0 …` for each package whose licence is not on the list. */
export function licenceProblems(lock: Lock): string[] {
  return foreignPackages(lock)
    .filter(([path, { license = '' }]) => !LICENCES.has(license) && OTHER_LICENCES[path] !== license)
    .map(
      ([path, { license = 'no licence' }]) =>
        `${path}: ${license} is not on the list of scripts/release/licences.ts: remove it, or add it with a reason`,
    );
}

/** Not this repository's own packages. */
function foreignPackages({ packages }: Lock) {
  return Object.entries(packages).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);
}
