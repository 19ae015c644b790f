import { readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GraphError } from '../../errors.ts';
import type { Graph } from '../graph.ts';
import { buildGraph } from './build-graph.ts';
import type { GraphModule } from './build-graph.ts';
import { compileGraph, isBuiltIn } from './compile.ts';
import { findModuleFiles, warningsOfFiles } from './module-files.ts';

/**
 * Loads a graph folder: schema.graphql, and the optional modules resolvers, context and samples (.ts, .js, .mts or .mjs).
 * @throws GraphError with every mistake found, one per line: file, line or field, reason, remedy.
 */
export async function loadGraph(path: string): Promise<Graph> {
  const schemaFile = join(path, 'schema.graphql');
  const text = await readFile(schemaFile, 'utf8').catch(() => {
    throw new GraphError(
      `${resolve(schemaFile)}: cannot be read; a graph is a folder with a schema.graphql in it (GRAPH says which folder)`,
    );
  });
  // Modules are imported by their real paths, as they were compiled, so stack traces and `import.meta.url` match.
  const folder = await realpath(path);
  const { modules, warnings } = await importModules(folder);
  return buildGraph({ name: basename(folder), schema: text, modules, warnings });
}

async function importModules(folder: string): Promise<{ modules: Map<string, GraphModule>; warnings: string[] }> {
  const files = await findModuleFiles(folder);
  const entries = [...files.values()].map((file) => join(folder, file));
  const compiled = files.size === 0 || isBuiltIn(folder) ? entries : await compileGraph(folder, entries);
  const loaded = new Set([...files.values(), ...compiled.map((file) => relative(folder, file))]);
  const warnings = await warningsOfFiles(folder, loaded);
  const modules = new Map<string, GraphModule>();
  for (const [name, fileName] of files) {
    modules.set(name, { fileName, exports: await importModule(folder, fileName) });
  }
  return { modules, warnings };
}

async function importModule(folder: string, fileName: string): Promise<Record<string, unknown>> {
  try {
    return {
      ...((await import(pathToFileURL(await realpath(join(folder, fileName))).href)) as Record<string, unknown>),
    };
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    const position = stack?.split('\n').find((line) => line.includes(`${folder}/`));
    const place = position?.slice(position.indexOf(`${folder}/`) + folder.length + 1).replace(/:\d+\)?$|\)$/, '');
    throw new GraphError(`${place ?? fileName}: ${message}; ${fileName} could not be loaded`, { cause: error });
  }
}
