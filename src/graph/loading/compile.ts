import { execFile } from 'node:child_process';
import { register } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { GraphError } from '../../errors.ts';
import type { CompileReport } from './compile-process.ts';
import type { GraphModules } from './module-hooks.ts';

/** Where crier's package.json, babel.config.js and node_modules are, whatever the working directory. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * Makes the files of a graph importable under their own names: compiles `entries` and what they import by relative
 * paths, with the project's babel.config.js. Babel runs in a process of its own, so that a server never holds it.
 *
 * @returns the absolute names of all files that were compiled.
 * @throws GraphError naming file and line of a syntax error or of an import that leads nowhere.
 */
export async function compileGraph(folder: string, entries: readonly string[]): Promise<string[]> {
  const script = fileURLToPath(new URL('./compile-process.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, PACKAGE_ROOT, ...entries], {
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: TIMEOUT_MS,
    // Without the parent's NODE_OPTIONS, and whatever else could print to standard output.
    env: {},
  });
  const report = JSON.parse(stdout) as CompileReport;
  if (report.problems.length > 0) {
    throw new GraphError(
      report.problems.map(({ file, line, message }) => `${relative(folder, file)}:${line}: ${message}`).join('\n'),
    );
  }
  const sources = Object.entries(report.sources).map(([file, code]) => [pathToFileURL(file).href, code] as const);
  const data: GraphModules = {
    sources: Object.fromEntries(sources),
    packageUrl: pathToFileURL(join(PACKAGE_ROOT, 'package.json')).href,
  };
  // Each graph gets an instance of the hooks, told apart by its query.
  const hooks = new URL('./module-hooks.js', import.meta.url);
  hooks.search = new URLSearchParams({ folder }).toString();
  register(hooks, { data });
  return Object.keys(report.sources);
}

/** Whether a folder was compiled with crier itself, so that its files are imported as they are. */
export function isBuiltIn(folder: string): boolean {
  return `${folder}/`.startsWith(join(PACKAGE_ROOT, 'dist', '/'));
}
