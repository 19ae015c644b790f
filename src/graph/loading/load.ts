import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { GraphError } from '../../base/errors.ts';
import type { Graph } from '../graph-parts.ts';
import { buildGraph } from './build-graph.ts';
import type { GraphModule } from './build-graph.ts';
import { compileGraph, isBuiltIn, moduleUrl, prepareGraph } from './compile.ts';
import { ImportableModules } from './graph-modules.ts';
import { commonJsProblem } from './common-js.ts';
import { graphqlCopyWarnings } from './graphql-copies.ts';
import { missingPackageProblem } from './missing-package.ts';
import { findModuleFiles, warningsOfFiles } from './module-files.ts';
import { readSchemaFile } from './schema-file.ts';
import { tryModules } from './module-trial.ts';

/** The first graph of a folder: see `GraphLoader`. */
export async function loadGraph(path: string): Promise<Graph> {
  return (await new GraphLoader(path).load())!;
}

/** Loads a graph folder, again after a change. */
export class GraphLoader {
  readonly #path: string;
  readonly #setting: string | undefined;
  #modules: ImportableModules | undefined;
  /** Loads that have failed. Node imports a module that has failed once never again, so the next attempt has other URLs. */
  #failures = 0;

  /** @param setting what names the folder, for errors. Default: GRAPH */
  constructor(path: string, setting?: string) {
    this.#path = path;
    this.#setting = setting;
  }

  /**
   * Loads schema.graphql, and the optional modules resolvers, context, samples, formats and envelopes (.ts, .js, .mts or .mjs).
   * @param known a revision that need not be loaded
   * @returns undefined: the folder has that revision
   * @throws GraphError with every mistake found, one per line: file, line or field, reason, remedy.
   */
  async load(known?: string): Promise<Graph | undefined> {
    const text = await readSchemaFile(this.#path, this.#setting);
    // Modules are imported by their real paths, as they were compiled, so stack traces and `import.meta.url` match.
    const folder = await realpath(this.#path);
    const files = await findModuleFiles(folder);
    const entries = [...files.values()].map((file) => join(folder, file));
    const isCompiled = files.size > 0 && !isBuiltIn(folder);
    const isReload = this.#modules !== undefined;
    const compiled = isCompiled
      ? await prepareGraph(folder, entries, isReload)
      : { sources: {}, digest: '', isPlain: false };
    const revision = revisionOf([text, compiled.digest]);
    if (revision === known) return undefined;
    // Babel finds a syntax error of any module before one of them runs beside clients.
    if (compiled.isPlain && isReload) await compileGraph(folder, entries, true);
    if (isCompiled && isReload) await tryModules({ folder, sources: compiled.sources, entries });
    const version = isCompiled ? await this.#add(folder, compiled.sources, revision) : undefined;
    const loaded = new Set([...files.values(), ...Object.keys(compiled.sources).map((file) => relative(folder, file))]);
    const warnings = await warningsOfFiles(folder, loaded);
    if (isCompiled) warnings.push(...graphqlCopyWarnings(folder));
    const modules = new Map<string, GraphModule>();
    this.#failures++;
    for (const [name, fileName] of files) {
      const exports = await importModule(folder, fileName, version).catch(async (error: unknown) => {
        // Babel finds the mistakes of all files, each with its line. What it does not find, the import has.
        if (compiled.isPlain) await compileGraph(folder, entries, isReload);
        throw commonJsProblem(error, name, text) ?? error;
      });
      modules.set(name, { fileName, exports });
    }
    this.#failures--;
    return buildGraph({ name: basename(folder), revision, schema: text, modules, warnings });
  }

  /** Returns the version of the modules' URLs: none at first. */
  async #add(folder: string, sources: Readonly<Record<string, string>>, revision: string): Promise<string | undefined> {
    const version = this.#modules ? `${revision}${this.#failures || ''}` : undefined;
    await (this.#modules ??= new ImportableModules(folder)).add(sources, version);
    return version;
  }
}

/** 12 of the 64 digits of SHA-256: enough to tell the revisions of one folder apart. */
export function revisionOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

/** Longest time for which a module may wait at its top. */
const TIMEOUT_MS = 20_000;

/** Imports a module that may wait for ever, or end the process: neither is silent. */
async function importWatched(url: string, fileName: string): Promise<Record<string, unknown>> {
  // Unlike a promise, a timer keeps the process.
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fail = () =>
      reject(new Error(`has not been loaded within ${TIMEOUT_MS} ms: an await at its top does not end`));
    timer = setTimeout(fail, TIMEOUT_MS);
  });
  const onExit = (code: number) =>
    process.stderr.write(
      `crier: ${fileName}: ends the process with code ${code} while it is loaded; remove process.exit()\n`,
    );
  process.once('exit', onExit);
  try {
    return { ...(await Promise.race([import(url) as Promise<Record<string, unknown>>, late])) };
  } finally {
    clearTimeout(timer);
    process.off('exit', onExit);
  }
}

/** @param version of the modules' URLs */
async function importModule(
  folder: string,
  fileName: string,
  version: string | undefined,
): Promise<Record<string, unknown>> {
  try {
    const file = await realpath(join(folder, fileName));
    return await importWatched(moduleUrl(file, version), fileName);
  } catch (error) {
    const missing = missingPackageProblem(folder, error);
    if (missing !== undefined) throw new GraphError(missing, { cause: error });
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    const position = stack?.split('\n').find((line) => /^\s+at /.test(line) && line.includes(`${folder}/`));
    const location = position
      ?.slice(position.indexOf(`${folder}/`) + folder.length + 1)
      .replace(/\?graph=\w+/, '')
      .replace(/:\d+\)?$|\)$/, '');
    throw new GraphError(`${location ?? fileName}: ${message}; ${fileName} could not be loaded`, { cause: error });
  }
}
