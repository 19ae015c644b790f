import type { ContextDefinition } from '../graph/context/context.ts';
import { isJsonObject } from '../base/json/json-object.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { GraphError } from '../base/errors.ts';
import type { Envelopes } from '../graph/envelopes.ts';
import type { Formats } from '../graph/formats.ts';
import type { Graph, Samples } from '../graph/graph-parts.ts';
import { buildGraph } from '../graph/loading/build-graph.ts';
import type { GraphModule } from '../graph/loading/build-graph.ts';
import { revisionOf } from '../graph/loading/load.ts';
import type { Resolvers } from './graph.ts';
import { kindOf } from '../graph/record-check/described.ts';
import { sourceTextOf } from './source-text.ts';

/** A graph without a folder: its parts are those of the files. */
export interface GraphDefinition {
  /** Shown in logs. Default: `graph`. */
  readonly name?: string;
  /** SDL, as in schema.graphql. */
  readonly schema: string;
  /* eslint-disable @typescript-eslint/no-explicit-any -- any loaders */
  readonly resolvers?: Resolvers<any>;
  readonly context?: ContextDefinition<any>;
  /* eslint-enable @typescript-eslint/no-explicit-any */
  readonly samples?: Samples;
  readonly formats?: Formats;
  readonly envelopes?: Envelopes;
}

const MODULES = ['resolvers', 'context', 'samples', 'formats', 'envelopes'];
const PARTS = ['name', 'schema', ...MODULES];

/**
 * Checks and builds a graph.
 * @throws GraphError with every mistake found, one per line: field, line, reason, remedy
 */
export function defineGraph(definition: GraphDefinition): Graph {
  const problems = problemsOf(definition);
  if (problems.length > 0) throw new GraphError(problems.join('\n'));
  const { name = 'graph', schema, ...modules } = definition;
  const given = Object.entries(modules).filter(([, exports]) => (exports as object | undefined) !== undefined);
  return buildGraph({
    name,
    revision: revisionOf([schema, sourceTextOf(modules)]),
    schema,
    modules: new Map(given.map(([module, exports]) => [module, { fileName: module, exports } as GraphModule])),
    warnings: [],
  });
}

/** What is no part of a graph, or of another type: callers may be JavaScript. */
function problemsOf(definition: unknown): string[] {
  if (typeof definition !== 'object' || definition === null) {
    return [
      `defineGraph: expected an object such as { schema: "type …", resolvers: { … } }, got ${kindOf(definition)}`,
    ];
  }
  const parts = Object.entries(definition);
  const unknown = parts
    .filter(([part]) => !PARTS.includes(part))
    .map(([part]) => `${part}: unknown part of a graph${partFix(part)}`);
  if (unknown.length > 0) return unknown;
  const mistaken = parts.filter(
    ([part, value]) => MODULES.includes(part) && value !== undefined && !isJsonObject(value),
  );
  const { schema } = definition as { readonly schema?: unknown };
  return [
    ...(typeof schema === 'string' ? [] : [`schema: expected the text of an SDL, got ${kindOf(schema)}`]),
    ...mistaken.map(
      ([part, value]) => `${part}: expected one object of what ${part}.ts would export, got ${kindOf(value)}`,
    ),
  ];
}

/** Apollo Server and GraphQL Yoga have typeDefs. */
function partFix(part: string): string {
  if (/^(typeDefs|sdl)$/i.test(part)) return '; write schema, which is a text';
  return didYouMean(part, MODULES) || `; the parts are ${PARTS.join(', ')}`;
}
