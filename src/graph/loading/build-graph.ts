import { parse, validate } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import type { ContextDefinition } from '../context/context.ts';
import { didYouMean } from '../../base/did-you-mean.ts';
import { GraphError } from '../../base/errors.ts';
import { parseAccessRules } from '../access/access-rules.ts';
import { attachEntities } from '../federation/entities.ts';
import { makeExecutable } from '../execution/executable.ts';
import type { Source } from '../execution/executable.ts';
import type { Envelopes } from '../envelopes.ts';
import type { Formats } from '../formats.ts';
import type { Graph, Samples } from '../graph-parts.ts';
import { attachPublications } from '../publishing/attach-publications.ts';
import { parseBindings } from '../schema/bindings.ts';
import { attachChangeFields } from '../schema/change-fields.ts';
import { attachRecordFields } from '../schema/record-fields.ts';
import { RECORD_ENVELOPES } from '../schema/record-envelope.ts';
import { RECORD_FORMATS } from '../schema/record-format.ts';
import { nullRoots } from '../schema/null-roots.ts';
import { parseRedisBindings } from '../schema/redis-binding.ts';
import { attachResolvers } from '../schema/resolvers.ts';
import { buildGraphSchema, withoutOwnDefinitions } from '../schema/schema.ts';
import { attachStateFields } from '../state/state-fields.ts';

/** A module of a graph: resolvers, context, samples, formats or envelopes. */
export interface GraphModule {
  /** What problems name. */
  readonly fileName: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

export interface GraphParts extends Pick<Graph, 'name' | 'revision' | 'warnings'> {
  /** SDL. */
  readonly schema: string;
  /** By name: resolvers, context, samples, formats, envelopes. All are optional. */
  readonly modules: ReadonlyMap<string, GraphModule>;
}

const CONTEXT_PARTS = ['backends', 'createLoaders', 'authenticate'];
const SAMPLES_PARTS = ['records', 'operation', 'respond'];
const RECORDS = 'write export function* records(seed) that yields { topic, value }';
const ENUM_NAME = /^[A-Z][A-Z0-9_]*$/;

/**
 * Puts a graph together.
 * @throws GraphError with every mistake found, one per line: file, line or field, reason, remedy.
 */
export function buildGraph({ name, revision, schema: text, modules, warnings }: GraphParts): Graph {
  const mistaken: string[] = [];
  const formats = readOwn<Formats>('format', modules.get('formats'), RECORD_FORMATS, mistaken);
  const envelopes = readOwn<Envelopes>('envelope', modules.get('envelopes'), Object.keys(RECORD_ENVELOPES), mistaken);
  const { schema, problems, subgraph } = buildGraphSchema(text, 'schema.graphql', {
    KafkaFormat: Object.keys(formats),
    KafkaEnvelope: Object.keys(envelopes),
  });
  problems.push(...mistaken);

  const resolvers = modules.get('resolvers');
  const attached = attachResolvers(schema, resolvers?.exports ?? {}, resolvers?.fileName ?? '');
  problems.push(...attachRecordFields(schema), ...attachChangeFields(schema));
  problems.push(...attachEntities(schema, subgraph));
  const published = attachPublications(schema);
  const parsed = parseBindings(schema, attached.customSources);
  const states = attachStateFields(schema, parsed.bindings);
  const redis = parseRedisBindings(schema, attached.customSources);
  const nulls = nullRoots(schema);
  problems.push(
    ...attached.problems,
    ...published.problems,
    ...parsed.problems,
    ...redis.problems,
    ...states.problems,
    ...nulls.problems,
    ...parseAccessRules(schema).problems,
  );
  const context = readContext(modules.get('context'), problems);
  const clientSchema = problems.length === 0 ? withoutOwnDefinitions(schema, subgraph) : schema;
  const samples = readSamples(modules.get('samples'), clientSchema, problems);
  if (problems.length > 0) throw new GraphError(problems.join('\n'));

  makeExecutable(clientSchema, new Map<string, Source>([...parsed.bindings, ...redis.bindings]));
  return {
    name,
    revision,
    schema: clientSchema,
    bindings: parsed.bindings,
    redisBindings: redis.bindings,
    publications: published.publications,
    stateFields: states.stateFields,
    shapes: parsed.shapes,
    authorizers: attached.authorizers,
    context,
    samples,
    formats,
    envelopes,
    warnings: [
      ...warnings,
      ...unreadContext(modules.get('context')),
      ...parsed.warnings,
      ...redis.warnings,
      ...nulls.warnings,
    ],
  };
}

/** A module that exports nothing may be there for what it does; one whose exports are all unread is mistaken. */
function unreadContext({ exports, fileName }: GraphModule = { fileName: '', exports: {} }): string[] {
  const names = Object.keys(exports);
  if (names.length === 0 || names.some((name) => CONTEXT_PARTS.includes(name))) return [];
  return [`${fileName} exports nothing that crier reads; export one of: ${CONTEXT_PARTS.join(', ')}`];
}

function readContext(module: GraphModule | undefined, problems: string[]): ContextDefinition {
  if (!module) return {};
  const { backends, ...functions } = pick(module, CONTEXT_PARTS, problems);
  if (backends !== undefined && !(Array.isArray(backends) && backends.every((name) => typeof name === 'string'))) {
    problems.push(`${module.fileName}: backends must be a list of names, such as ['seller', 'venue']`);
  }
  requireFunctions(module, functions, problems);
  return { ...(backends === undefined ? {} : { backends: backends as string[] }), ...functions };
}

/** The functions of a module by whose names the schema calls them. @param taken names of crier's */
function readOwn<Own extends Readonly<Record<string, unknown>>>(
  what: 'format' | 'envelope',
  module: GraphModule | undefined,
  taken: readonly string[],
  problems: string[],
): Own {
  if (!module) return {} as Own;
  const { exports, fileName } = module;
  const names = Object.keys(exports).filter((name) => ENUM_NAME.test(name) && !taken.includes(name));
  const example = what === 'format' ? 'CBOR' : 'MAXWELL';
  for (const name of Object.keys(exports).filter((one) => !names.includes(one)))
    problems.push(
      name === 'default'
        ? `${fileName}: has a default export; use named ones, such as export const ${example}`
        : `${fileName}: ${name} cannot be the name of a${what === 'format' ? '' : 'n'} ${what}: names are in capitals (${example}), and none of crier's; move helpers to another file`,
    );
  const own = Object.fromEntries(names.map((name) => [name, exports[name]]));
  requireFunctions(module, own, problems);
  return own as Own;
}

function readSamples(module: GraphModule | undefined, schema: GraphQLSchema, problems: string[]): Samples | undefined {
  if (!module) return undefined;
  const { operation, ...functions } = pick(module, SAMPLES_PARTS, problems);
  requireFunctions(module, functions, problems);
  const { records } = functions;
  if (records === undefined) problems.push(`${module.fileName}: needs records; ${RECORDS}`);
  if (Object.prototype.toString.call(records).startsWith('[object Async'))
    problems.push(`${module.fileName}: records must not be async; ${RECORDS}`);
  if (operation !== undefined) {
    const mistake = typeof operation === 'string' ? mistakeOf(operation, schema) : 'must be the text of a subscription';
    if (mistake) problems.push(`${module.fileName}: operation: ${mistake}`);
  }
  return {
    ...functions,
    records: (seed) => iterableOf((records as Samples['records'])(seed), module.fileName),
    ...(operation === undefined ? {} : { operation: operation as string }),
  };
}

function iterableOf(returned: unknown, fileName: string): ReturnType<Samples['records']> {
  if (typeof returned === 'object' && returned !== null && Symbol.iterator in returned) {
    return returned as ReturnType<Samples['records']>;
  }
  throw new GraphError(`${fileName}: records() returns no iterable; ${RECORDS}`);
}

function mistakeOf(operation: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(operation))[0]?.message;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The named exports that crier reads. Other exports are allowed; one that nearly has crier's name is a mistake. */
function pick(
  { exports, fileName }: GraphModule,
  parts: readonly string[],
  problems: string[],
): Record<string, unknown> {
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

function requireFunctions({ fileName }: GraphModule, values: Record<string, unknown>, problems: string[]): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'function') problems.push(`${fileName}: ${name} must be a function`);
  }
}
