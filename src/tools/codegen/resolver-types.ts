import { SetupError } from '../../base/errors.ts';
import { INSTALL_COMMAND } from './generator-packages.ts';
import { representationType } from './representation-type.ts';
import type { TypedSchema, TypedType } from './typed-schema.ts';

/** What crier calls in a graph's modules, in place of the generator's definitions of these names. */
const DEFINITIONS = `export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  source: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => Promise<TResult> | TResult;

export type AuthorizeFn<TParent, TContext, TArgs> = (
  source: TParent,
  args: TArgs,
  context: TContext,
) => boolean | PromiseLike<boolean>;

export type Resolver<TResult, TParent = unknown, TContext = unknown, TArgs = {}> =
  | ResolverFn<TResult, TParent, TContext, TArgs>
  | {
      readonly resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
      readonly authorize?: AuthorizeFn<TParent, TContext, TArgs>;
    }
  | { readonly authorize: AuthorizeFn<TParent, TContext, TArgs> };

export type AuthorizeSubscriptionFn<TContext, TArgs> = (
  args: TArgs,
  context: TContext,
) => void | boolean | Promise<void | boolean>;

export type SubscribeFn<TEvent, TContext, TArgs> = (
  source: undefined,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo,
) => AsyncIterable<TEvent> | PromiseLike<AsyncIterable<TEvent>>;

/** The source of a subscription's resolver is the value that its payload has, or that its subscribe yields, whatever its type. */
export type SubscriptionResolver<TResult, TKey extends string, _TParent = unknown, TContext = unknown, TArgs = {}> =
  | ResolverFn<TResult, any, TContext, TArgs>
  | {
      readonly resolve: ResolverFn<TResult, any, TContext, TArgs>;
      readonly authorize?: AuthorizeSubscriptionFn<TContext, TArgs>;
      readonly subscribe?: SubscribeFn<any, TContext, TArgs>;
    }
  | {
      readonly subscribe: SubscribeFn<{ readonly [key in TKey]: TResult }, TContext, TArgs>;
      readonly authorize?: AuthorizeSubscriptionFn<TContext, TArgs>;
    }
  | { readonly authorize: AuthorizeSubscriptionFn<TContext, TArgs> };

export type TypeResolveFn<TTypes, TParent = unknown, TContext = unknown> = (
  value: TParent,
  context: TContext,
  info: GraphQLResolveInfo,
) => TTypes | undefined;
`;

/** Names that the generator defines, and that crier defines otherwise, or has no use for. */
const REPLACED = new Set([
  'ResolverFn',
  'ResolverWithResolve',
  'Resolver',
  'SubscriptionSubscribeFn',
  'SubscriptionResolveFn',
  'SubscriptionSubscriberObject',
  'SubscriptionResolverObject',
  'SubscriptionObject',
  'SubscriptionResolver',
  'TypeResolveFn',
  'IsTypeOfResolverFn',
  'NextResolverFn',
  'DirectiveResolverFn',
]);
/** Those of them without which the rest of the file means something else. */
const EXPECTED = ['Resolver', 'SubscriptionResolver', 'TypeResolveFn'];

/** An argument that has a default is null if the client says so. */
const REQUIRE_FIELDS =
  'export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: Exclude<T[P], undefined> };';

const STATEMENT = /\n(?=export |\/\*\*)/;
const NAME = /^export (?:type|interface) (\w+)/;
/** The resolvers of a type; captures its name in the schema, and what comes before its fields. */
const TYPE_RESOLVERS =
  /^(export type \w+<ContextType = [^,]+, ParentType extends ResolversParentTypes\['(\w+)'\][^{]*\{\n)/;

/**
 * The output of the generator, with the forms of resolvers that crier accepts: `{ authorize, resolve }` and `{ authorize, resolve, subscribe }`,
 * `__authorize`, `__resolveReference` of entities, no `__isTypeOf`, and none for fields that a directive fills.
 * @throws SetupError if the generator is of a version that writes other types, or a type of the schema is named like one of its own
 */
export function withForms(output: string, schema: TypedSchema): string {
  const statements = output.split(STATEMENT);
  const nameOf = (statement: string) => NAME.exec(statement)?.[1] ?? '';
  const defined = statements.map(nameOf).filter((name) => name !== '');
  const names = new Set(defined);
  if (!EXPECTED.every((name) => names.has(name))) {
    throw new SetupError(
      `the installed version of @graphql-codegen/typescript-resolvers writes types that crier does not know; ${INSTALL_COMMAND}`,
    );
  }
  const doubled = new Set(defined.filter((name, i) => defined.indexOf(name) !== i));
  if (doubled.size > 0) {
    const subject = `${doubled.size === 1 ? 'a type is' : 'types are'} named ${[...doubled].join(', ')}`;
    throw new SetupError(
      `schema.graphql: ${subject}, as crier codegen names the types of resolvers; give the schema's another name`,
    );
  }
  const first = statements.findIndex((statement) => REPLACED.has(nameOf(statement)));
  return statements
    .flatMap((statement, i) => {
      const kept = REPLACED.has(nameOf(statement)) ? [] : [withOwnMembers(statement, schema)];
      return i === first ? [DEFINITIONS, ...kept] : kept;
    })
    .join('\n');
}

function withOwnMembers(statement: string, { types }: TypedSchema): string {
  if (statement.startsWith('export type RequireFields<')) return REQUIRE_FIELDS;
  const [, head, name] = TYPE_RESOLVERS.exec(statement) ?? [];
  const type = name === undefined ? undefined : types.get(name);
  if (head === undefined || name === undefined || !type) return statement;
  const isWritable = (line: string) =>
    !['__isTypeOf', ...type.filled].some((member) => line.startsWith(`  ${member}?:`));
  const fields = statement.slice(head.length).split('\n').filter(isWritable).join('\n');
  const authorize = `  __authorize?: (value: ParentType, context: ContextType) => boolean | PromiseLike<boolean>;\n`;
  const reference = type.entity && `  __resolveReference?: ${referenceResolver(name, type.entity)};\n`;
  return `${head}${type.isRoot ? '' : authorize}${reference ?? ''}${fields}`;
}

function referenceResolver(name: string, entity: NonNullable<TypedType['entity']>): string {
  const result = `Maybe<ResolversTypes['${name}']>`;
  const parameters = `reference: ${representationType(name, entity)}, context: ContextType, info: GraphQLResolveInfo`;
  return `(${parameters}) => Promise<${result}> | ${result}`;
}
