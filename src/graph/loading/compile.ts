import { execFile } from 'node:child_process';
import { register } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { GraphError } from '../../errors.ts';
import type { CompileReport } from './compile-process.ts';
import type { GraphModules } from './module-hooks.ts';

/** Folder of crier's package.json, babel.config.js and node_modules, independent of the working directory. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/**
 * Compiles `entries` and, recursively, their relative imports with crier's babel.config.js, and makes them importable under their own
 * names. Babel runs in a child process, so that the server does not keep it in memory.
 *
 * @returns the absolute names of all files that were compiled.
 * @throws GraphError naming file and line of a syntax error or of an import of a missing file.
 */
export async function compileGraph(folder: string, entries: readonly string[]): Promise<string[]> {
  const script = fileURLToPath(new URL('./compile-process.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, PACKAGE_ROOT, ...entries], {
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: TIMEOUT_MS,
    // An inherited variable such as NODE_OPTIONS could make the child print to standard output.
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
  // Each graph gets its own instance of the hooks: the query makes the URL unique.
  const hooks = new URL('./module-hooks.js', import.meta.url);
  hooks.search = new URLSearchParams({ folder }).toString();
  register(hooks, { data });
  return Object.keys(report.sources);
}

/** True if a folder was compiled together with crier, so its files are imported unchanged. */
export function isBuiltIn(folder: string): boolean {
  return `${folder}/`.startsWith(join(PACKAGE_ROOT, 'dist', '/'));
}
