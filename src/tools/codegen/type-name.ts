/** Names of which types.ts needs another meaning: TypeScript's, those of the generator, and crier's. */
const TAKEN = new Set([
  ...['AsyncIterable', 'Exclude', 'NonNullable', 'Omit', 'Pick', 'Promise', 'PromiseLike', 'ReadonlyArray', 'Record'],
  ...['GraphQLResolveInfo', 'GraphQLScalarType', 'GraphQLScalarTypeConfig', 'InputMaybe', 'Maybe', 'RequireFields'],
  ...['Resolver', 'ResolverFn', 'ResolverTypeWrapper', 'Scalars', 'SubscriptionResolver', 'TypeResolveFn'],
  ...['AuthorizeFn', 'AuthorizeSubscriptionFn', 'Context', 'GraphContext', 'Loaders', 'SubscribeFn'],
]);

/** `order_line` → `Order_Line`, `SKU` → `SKU`; a name that is taken gets an underscore: `Record` → `Record_`. */
export function typeName(name: string): string {
  const capitalised = name
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('_');
  return TAKEN.has(capitalised) ? `${capitalised}_` : capitalised;
}
