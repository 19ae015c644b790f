import type { GraphQLResolveInfo, GraphQLScalarType } from 'graphql';
import type { ExecutionContext } from '../graph/context/context.ts';
import type { AuthorizeType } from '../graph/graph-parts.ts';

/** `crier/graph`: what the modules of a graph import. */

export type { Acknowledgement, ContextDefinition } from '../graph/context/context.ts';
export type { Backend } from '../graph/context/backend.ts';
export type { Claims, ConnectionFacts, ConnectionRequest } from '../graph/context/connection-facts.ts';
export type { EventRecord } from '../graph/context/event-record.ts';
export type { NewRecord, PublishedRecord } from '../graph/context/publishing.ts';
export type { PubSub } from '../graph/context/pubsub/pubsub.ts';
export type { Envelopes, ReadChange, RowChange } from '../graph/envelopes.ts';
export type { FormatDecoder, Formats, LoadFormat } from '../graph/formats.ts';
export type { SampleRecord, Samples } from '../graph/graph-parts.ts';
export { byId, PrimedLoader } from './loaders.ts';

/**
 * The third argument of resolvers. `Loaders` is what the graph's `createLoaders` returns, and `BackendName` a name of its `backends`. Default:
 * any name, which is checked when it is read.
 */
export type Context<Loaders extends object = object, BackendName extends string = string> = ExecutionContext<
  Loaders,
  BackendName
>;

/* eslint-disable @typescript-eslint/no-explicit-any -- without generated types, sources and arguments are what the author says. */

export type Resolver<Loaders extends object = any> = (
  source: any,
  args: any,
  context: Context<Loaders>,
  info: GraphQLResolveInfo,
) => unknown;

/** Of a field of any type but Subscription. */
export type FieldResolver<Loaders extends object = any> =
  | Resolver<Loaders>
  | {
      readonly resolve?: Resolver<Loaders>;
      /** `void`: in `Resolvers`, Subscription is one of the types, too. Nothing returned refuses a field of any other type. */
      readonly authorize?: (
        source: any,
        args: any,
        context: Context<Loaders>,
      ) => void | boolean | PromiseLike<void | boolean>;
    };

export type SubscriptionResolver<Loaders extends object = any> =
  | Resolver<Loaders>
  | {
      readonly resolve?: Resolver<Loaders>;
      readonly authorize?: (args: any, context: Context<Loaders>) => void | boolean | Promise<void | boolean>;
      readonly subscribe?: (
        source: undefined,
        args: any,
        context: Context<Loaders>,
        info: GraphQLResolveInfo,
      ) => AsyncIterable<unknown> | PromiseLike<AsyncIterable<unknown>>;
    };

/** Of an object type, an interface or a union. */
export type TypeResolvers<Loaders extends object = any> = {
  readonly __resolveType?: (value: any, context: Context<Loaders>, info: GraphQLResolveInfo) => string | undefined;
  readonly __authorize?: (value: any, context: Context<Loaders>) => ReturnType<AuthorizeType>;
} & { readonly [field: string]: FieldResolver<Loaders> };

/* eslint-enable @typescript-eslint/no-explicit-any */

/** The exports of a graph's `resolvers.ts`, by type. */
export type Resolvers<Loaders extends object = object> = {
  readonly Subscription?: { readonly [field: string]: SubscriptionResolver<Loaders> };
} & { readonly [type: string]: TypeResolvers<Loaders> | GraphQLScalarType };

/**
 * Returns its argument. Functions in it know the type of their `context`; loaders are given first:
 *
 *     export const { Order } = defineResolvers<Loaders>()({ Order: { customer: (order, args, { loaders }) => … } });
 */
export function defineResolvers<const T extends Resolvers>(resolvers: T): T;
export function defineResolvers<Loaders extends object>(): <const T extends Resolvers<Loaders>>(resolvers: T) => T;
export function defineResolvers(...resolvers: unknown[]): unknown {
  return resolvers.length > 0 ? resolvers[0] : (given: unknown) => given;
}
