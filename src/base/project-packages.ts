import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/**
 * Finds a package that crier needs for one feature, and that is no dependency of it: in the project that has a graph, else in the working directory.
 * @param folder of the graph; '': the working directory
 * @returns the file that `require` loads; undefined: the package is installed in neither
 */
export function projectPackage(name: string, folder: string): string | undefined {
  for (const from of new Set([resolve(folder), resolve('.')])) {
    try {
      return createRequire(join(from, 'graph.js')).resolve(name);
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Loads what `projectPackage` has found. */
export function requireFile(file: string): unknown {
  return createRequire(file)(file);
}
