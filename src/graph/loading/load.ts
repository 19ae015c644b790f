import { readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, validate } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import type { ContextDefinition } from '../../context/context.ts';
import { didYouMean } from '../../did-you-mean.ts';
import { GraphError } from '../../errors.ts';
import { parseAccessRules } from '../access/access-rules.ts';
import { parseBindings } from '../schema/bindings.ts';
import { compileGraph, isBuiltIn } from './compile.ts';
import { makeExecutable } from '../execution/executable.ts';
import type { Source } from '../execution/executable.ts';
import type { Graph, Samples } from '../graph.ts';
import { attachPublications } from '../publishing/attach-publications.ts';
import { findModuleFiles, warningsOfFiles } from './module-files.ts';
import { parseRedisBindings } from '../schema/redis-binding.ts';
import { attachRecordFields } from '../schema/record-fields.ts';
import { attachResolvers } from '../schema/resolvers.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../schema/schema.ts';
import { attachStateFields } from '../state/state-fields.ts';

interface Module {
  readonly fileName: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

const CONTEXT_PARTS = ['backends', 'createLoaders', 'authenticate'];
const SAMPLES_PARTS = ['records', 'operation', 'respond'];

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
  const { schema, problems } = buildGraphSchema(text, 'schema.graphql');
  const { modules, warnings } = await importModules(folder);

  const resolvers = modules.get('resolvers');
  const attached = attachResolvers(schema, resolvers?.exports ?? {}, resolvers?.fileName ?? '');
  problems.push(...attachRecordFields(schema));
  const published = attachPublications(schema);
  const parsed = parseBindings(schema, attached.customSources);
  const states = attachStateFields(schema, parsed.bindings);
  const redis = parseRedisBindings(schema, attached.customSources);
  problems.push(
    ...attached.problems,
    ...published.problems,
    ...parsed.problems,
    ...redis.problems,
    ...states.problems,
    ...parseAccessRules(schema).problems,
  );
  const context = readContext(modules.get('context'), problems);
  const clientSchema = problems.length === 0 ? withoutOwnDefinitions(schema) : schema;
  const samples = readSamples(modules.get('samples'), clientSchema, problems);
  if (problems.length > 0) throw new GraphError(problems.join('\n'));

  makeExecutable(clientSchema, new Map<string, Source>([...parsed.bindings, ...redis.bindings]));
  return {
    name: basename(folder),
    schema: clientSchema,
    bindings: parsed.bindings,
    redisBindings: redis.bindings,
    publications: published.publications,
    stateFields: states.stateFields,
    shapes: parsed.shapes,
    authorizers: attached.authorizers,
    context,
    samples,
    warnings: [...warnings, ...parsed.warnings, ...redis.warnings],
  };
}

async function importModules(folder: string): Promise<{ modules: Map<string, Module>; warnings: string[] }> {
  const files = await findModuleFiles(folder);
  const entries = [...files.values()].map((file) => join(folder, file));
  const compiled = files.size === 0 || isBuiltIn(folder) ? entries : await compileGraph(folder, entries);
  const loaded = new Set([...files.values(), ...compiled.map((file) => relative(folder, file))]);
  const warnings = await warningsOfFiles(folder, loaded);
  const modules = new Map<string, Module>();
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

function readContext(module: Module | undefined, problems: string[]): ContextDefinition {
  if (!module) return {};
  const { backends, ...functions } = pick(module, CONTEXT_PARTS, problems);
  if (backends !== undefined && !(Array.isArray(backends) && backends.every((name) => typeof name === 'string'))) {
    problems.push(`${module.fileName}: backends must be a list of names, such as ['seller', 'venue']`);
  }
  requireFunctions(module, functions, problems);
  return { ...(backends === undefined ? {} : { backends: backends as string[] }), ...functions };
}

function readSamples(module: Module | undefined, schema: GraphQLSchema, problems: string[]): Samples | undefined {
  if (!module) return undefined;
  const { operation, ...functions } = pick(module, SAMPLES_PARTS, problems);
  requireFunctions(module, functions, problems);
  if (functions['records'] === undefined) {
    problems.push(`${module.fileName}: needs records; export function* records(seed) that yields { topic, value }`);
  }
  if (operation !== undefined) {
    const mistake = typeof operation === 'string' ? mistakeOf(operation, schema) : 'must be the text of a subscription';
    if (mistake) problems.push(`${module.fileName}: operation: ${mistake}`);
  }
  const samples = { ...functions, ...(operation === undefined ? {} : { operation: operation as string }) };
  return samples as unknown as Samples;
}

function mistakeOf(operation: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(operation))[0]?.message;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The named exports that crier reads. Other exports are allowed; one that nearly has crier's name is a mistake. */
function pick({ exports, fileName }: Module, parts: readonly string[], problems: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(exports)) {
    if (parts.includes(name)) picked[name] = value;
    else if (name === 'default')
      problems.push(`${fileName}: has a default export; use named ones: ${parts.join(', ')}`);
    else {
      const nearest = didYouMean(name, parts);
      if (nearest) problems.push(`${fileName}: exports "${name}", which crier does not read${nearest}`);
    }
  }
  return picked;
}

function requireFunctions({ fileName }: Module, values: Record<string, unknown>, problems: string[]): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'function') problems.push(`${fileName}: ${name} must be a function`);
  }
}
