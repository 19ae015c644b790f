import { execFile } from 'node:child_process';
import { setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { GraphError } from '../../base/errors.ts';
import type { CompileReport } from './compile-process.ts';
import { readPlainModules } from './plain-modules.ts';

/** Folder of crier's package.json, babel.config.js and node_modules, independent of the working directory. */
export const PACKAGE_ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const TIMEOUT_MS = 60_000;
/** A nice value: about a quarter of a busy core. */
const BACKGROUND_PRIORITY = 5;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** The modules of a graph, ready to be imported. */
export interface CompiledModules {
  /** Code by absolute file name. */
  readonly sources: Readonly<Record<string, string>>;
  /** Equal for equal modules, and for equal other files that they import by relative names. */
  readonly digest: string;
  /** True: Babel has not read them. Should their import fail, `compileGraph` names their mistakes. */
  readonly isPlain: boolean;
}

/**
 * The code of `entries` and, recursively, of their relative imports: their texts where nothing has to be compiled, otherwise what
 * `compileGraph` returns.
 * @param isBackground true: a process that compiles leaves the CPU to the one that serves clients
 * @throws GraphError as `compileGraph` does
 */
export async function prepareGraph(
  folder: string,
  entries: readonly string[],
  isBackground: boolean,
): Promise<CompiledModules> {
  const sources = await readPlainModules(entries);
  if (!sources) return compileGraph(folder, entries, isBackground);
  return { sources, digest: digestOf(folder, sources), isPlain: true };
}

/**
 * Compiles `entries` and, recursively, their relative imports with crier's babel.config.js. Babel runs in a child process, so that the server
 * does not keep it in memory.
 *
 * @param isBackground true: the process leaves the CPU to the one that serves clients
 * @throws GraphError naming file and line of a syntax error or of an import of a missing file.
 */
export async function compileGraph(
  folder: string,
  entries: readonly string[],
  isBackground: boolean,
): Promise<CompiledModules> {
  const script = fileURLToPath(new URL('./compile-process.js', import.meta.url));
  const compiling = promisify(execFile)(process.execPath, [script, PACKAGE_ROOT, ...entries], {
    maxBuffer: MAX_OUTPUT_BYTES,
    timeout: TIMEOUT_MS,
    // An inherited variable such as NODE_OPTIONS could make the child print to standard output.
    env: {},
  });
  if (isBackground) lowerPriority(compiling.child.pid);
  const { stdout } = await compiling;
  const { sources, others, problems } = JSON.parse(stdout) as CompileReport;
  if (problems.length > 0) {
    throw new GraphError(
      problems.map(({ file, line, message }) => `${relative(folder, file)}:${line}: ${message}`).join('\n'),
    );
  }
  return { sources, digest: digestOf(folder, { ...sources, ...others }), isPlain: false };
}

/** @param texts by absolute file name */
function digestOf(folder: string, texts: Readonly<Record<string, string>>): string {
  const parts = Object.entries(texts).map(([file, text]) => [relative(folder, file), text]);
  return JSON.stringify(parts.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)));
}

/** Leaves most of a busy core to the process that serves clients. Any lower, and a core without idle time would hardly run it at all. */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, BACKGROUND_PRIORITY);
  } catch {
    // It has ended already, or this is not allowed: it runs as fast as any other.
  }
}

/** The URL of a compiled file. @param version undefined: the first one */
export function moduleUrl(file: string, version: string | undefined): string {
  const url = pathToFileURL(file);
  if (version !== undefined) url.search = `graph=${version}`;
  return url.href;
}

/** True if a folder was compiled together with crier, so its files are imported unchanged. */
export function isBuiltIn(folder: string): boolean {
  return `${folder}/`.startsWith(join(PACKAGE_ROOT, 'dist', '/'));
}
