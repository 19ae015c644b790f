import type { ContextDefinition } from '../graph/context/context.ts';
import { didYouMean } from '../base/did-you-mean.ts';
import { GraphError } from '../base/errors.ts';
import type { Envelopes } from '../graph/envelopes.ts';
import type { Formats } from '../graph/formats.ts';
import type { Graph, Samples } from '../graph/graph-parts.ts';
import { buildGraph } from '../graph/loading/build-graph.ts';
import type { GraphModule } from '../graph/loading/build-graph.ts';
import { revisionOf } from '../graph/loading/load.ts';
import type { Resolvers } from './graph.ts';
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

/**
 * Checks and builds a graph.
 * @throws GraphError with every mistake found, one per line: field, line, reason, remedy
 */
export function defineGraph({ name = 'graph', schema, ...modules }: GraphDefinition): Graph {
  const unknown = Object.keys(modules).filter((part) => !MODULES.includes(part));
  if (unknown.length > 0) {
    throw new GraphError(
      unknown.map((part) => `${part}: unknown part of a graph${didYouMean(part, MODULES)}`).join('\n'),
    );
  }
  return buildGraph({
    name,
    revision: revisionOf([schema, sourceTextOf(modules)]),
    schema,
    modules: new Map(
      Object.entries(modules).map(([module, exports]) => [module, { fileName: module, exports } as GraphModule]),
    ),
    warnings: [],
  });
}
