import type { GraphQLSchema } from 'graphql';
import type { ContextDefinition, ExecutionContext } from '../context/context.ts';
import type { Binding } from './schema/binding.ts';

/** A record as a graph's samples make it: what Kafka would carry. */
export interface SampleRecord {
  readonly topic: string;
  readonly key?: string;
  /** camelCase, as the producers write it; JSON-encoded on the way in. */
  readonly value: unknown;
}

/** The exports of a graph's `samples.ts`, all optional but `records`. */
export interface Samples {
  /** Endless, and the same sequence for the same seed. */
  records(seed: number): Iterable<SampleRecord>;
  /** A subscription that shows the samples at once: printed at start, and GraphiQL's first tab. */
  readonly operation?: string;
  /** Answers for backends that have no URL in the embedded mode: a JSON value, or undefined for 404. */
  respond?(backend: string, request: { method: string; path: string; body: unknown }): unknown;
}

/**
 * Whether this connection may have this subscription: asked for each operation, before its channel is joined. False or a
 * throw refuses.
 */
export type Authorize = (
  args: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
) => void | boolean | Promise<void | boolean>;

/** A loaded graph folder. */
export interface Graph {
  /** The folder's name. */
  readonly name: string;
  /**
   * Executable: resolvers attached; a bound field's `resolve` picks its value from the payload. Subscription fields without
   * @kafka have a `subscribe` of the graph's own, whose events are root values as in graphql-js.
   */
  readonly schema: GraphQLSchema;
  /** One for each Subscription field with @kafka, by field name. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** By Subscription field. */
  readonly authorizers: ReadonlyMap<string, Authorize>;
  readonly context: ContextDefinition;
  readonly samples: Samples | undefined;
  /** One line for each thing in the folder that may be a mistake. */
  readonly warnings: readonly string[];
}
