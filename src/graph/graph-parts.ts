import type { GraphQLSchema } from 'graphql';
import type { ContextDefinition, ExecutionContext } from './context/context.ts';
import type { Envelopes } from './envelopes.ts';
import type { Formats } from './formats.ts';
import type { Publication } from './publishing/publication.ts';
import type { Binding } from './schema/binding.ts';
import type { RedisBinding } from './schema/redis-binding.ts';
import type { PayloadShape } from './schema/payload-shape.ts';

/** A sample record, as a producer would write it to Kafka. */
export interface SampleRecord {
  readonly topic: string;
  readonly key?: string;
  /** With keys in camelCase, as producers write them; crier encodes it as JSON. null: a tombstone. */
  readonly value: unknown;
}

/** The exports of a graph's `samples.ts`; only `records` is required. */
export interface Samples {
  /** Endless, and the same sequence for the same seed. */
  records(seed: number): Iterable<SampleRecord>;
  /** A subscription that the samples feed: printed at start, and GraphiQL's first tab. */
  readonly operation?: string;
  /** Answers for backends that have no URL in the embedded mode: a JSON value, or undefined for 404. */
  respond?(backend: string, request: { method: string; path: string; body: unknown }): unknown;
}

/** Called for each subscription before it joins its channel. False or a throw refuses it. */
export type Authorize = (
  args: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
) => void | boolean | Promise<void | boolean>;

/** The `authorize` of a field of any other type, called before its resolver. Whatever is not true, and a throw, refuses the field. */
export type AuthorizeField = (
  source: unknown,
  args: Readonly<Record<string, unknown>>,
  context: ExecutionContext,
) => boolean | PromiseLike<boolean>;

/**
 * The `__authorize` of an object type or interface, called with each value of the type that a field returns, after the field's resolver.
 * Whatever is not true, and a throw, refuses the value.
 */
export type AuthorizeType = (value: unknown, context: ExecutionContext) => boolean | PromiseLike<boolean>;

/** A loaded graph folder. */
export interface Graph {
  /** The folder's name. */
  readonly name: string;
  /** Names the contents of the folder: equal for equal ones. */
  readonly revision: string;
  /**
   * Executable: resolvers are attached, and the `resolve` of a bound field reads its value from the payload. A Subscription field
   * without @kafka or @redis has a `subscribe` from the graph's resolvers; its events are root values as in graphql-js.
   */
  readonly schema: GraphQLSchema;
  /** One for each Subscription field with @kafka, by field name. */
  readonly bindings: ReadonlyMap<string, Binding>;
  /** One for each Subscription field with @redis, by field name. */
  readonly redisBindings: ReadonlyMap<string, RedisBinding>;
  /** One for each Mutation field with @kafkaPublish. */
  readonly publications: readonly Publication[];
  /** Names of the Query fields with @state. */
  readonly stateFields: readonly string[];
  /** By topic: what the graph's fields read in its payloads. */
  readonly shapes: ReadonlyMap<string, PayloadShape>;
  /** By Subscription field. */
  readonly authorizers: ReadonlyMap<string, Authorize>;
  readonly context: ContextDefinition;
  readonly samples: Samples | undefined;
  readonly formats: Formats;
  readonly envelopes: Envelopes;
  /** One line for each possible mistake in the folder. */
  readonly warnings: readonly string[];
}
