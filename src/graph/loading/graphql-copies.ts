import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

interface Copy {
  readonly folder: string;
  readonly version: string;
}

/**
 * A line if the packages of a graph import another copy of graphql than crier; its modules import crier's. crier recognises errors and scalars
 * of any copy, but `instanceof` in a package knows those of its own only.
 */
export function graphqlCopyWarnings(folder: string): string[] {
  const own = copyFor(import.meta.filename)!;
  const other = copyFor(join(folder, 'resolvers.js'));
  if (!other || other.folder === own.folder) return [];
  return [
    `there are two copies of graphql: ${own.version} of crier, which the graph's modules import, and ${other.version} of the packages that ` +
      `they import; run npm install graphql@${own.version} where the graph's packages are installed, or install crier there, too`,
  ];
}

/** The graphql that a file imports; undefined: none is installed for it. */
function copyFor(file: string): Copy | undefined {
  try {
    const folder = dirname(realpathSync(createRequire(file).resolve('graphql')));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version };
  } catch {
    return undefined;
  }
}
