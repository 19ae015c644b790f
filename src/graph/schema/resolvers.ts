import { isAbstractType, isEnumType, isObjectType, isScalarType, isSpecifiedScalarType, isUnionType } from 'graphql';
import type {
  GraphQLAbstractType,
  GraphQLFieldResolver,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
} from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { setAuthorizer, setTypeAuthorizer } from '../authorize.ts';
import { setReferenceResolver } from '../federation/reference-resolver.ts';
import type { ReferenceResolver } from '../federation/reference-resolver.ts';
import type { Authorize, AuthorizeField, AuthorizeType } from '../graph-parts.ts';
import { scalarFunctionsOf, setScalarFunctions } from '../graphql-version.ts';
import { attachScalars } from './scalars.ts';

/** The outcome of attaching a graph's resolvers to its schema. */
export interface Attached {
  readonly authorizers: Map<string, Authorize>;
  /** Subscription fields with a `subscribe` in the graph's resolvers. */
  readonly customSources: Set<string>;
  /** One line for each mistake. */
  readonly problems: string[];
}

const FIELD_PARTS = ['authorize', 'resolve'];
const SUBSCRIPTION_PARTS = [...FIELD_PARTS, 'subscribe'];

/**
 * Attaches the named exports of a graph's resolvers, one per type:
 * - an object type: `export const Auction = { seller(auction, args, context, info) { … } }`; a field may also be `{ authorize, resolve }`
 * - Subscription: a function as above, which receives the field's value, or `{ authorize, resolve, subscribe }`
 * - an interface or union: `export const Event = { __resolveType(value) { return 'Auction'; } }`
 * - an object type or interface also: `{ __authorize(value, context) { … } }`, and of a subgraph
 *   `{ __resolveReference(representation, context, info) { … } }`
 * - a scalar: `export const Date = new GraphQLScalarType({ … })`; BigInt and Long are crier's if there is none
 */
export function attachResolvers(
  schema: GraphQLSchema,
  exports: Readonly<Record<string, unknown>>,
  fileName: string,
): Attached {
  const attached: Attached = { authorizers: new Map(), customSources: new Set(), problems: [] };
  const report = (problem: string) => attached.problems.push(`${fileName}: ${problem}`);
  for (const [name, value] of Object.entries(exports)) {
    if (name === 'default') {
      report(`has a default export; export one constant for each type instead: ${exampleExport(schema, value)}`);
      continue;
    }
    const type = name.startsWith('__') ? undefined : schema.getType(name);
    if (!type) {
      const names = Object.keys(schema.getTypeMap()).filter((candidate) => !candidate.startsWith('__'));
      const fix =
        typesIn(schema, value).length > 0
          ? `; export its members: ${exampleExport(schema, value)}`
          : didYouMean(name, names);
      report(`exports "${name}", which is not a type of the schema${fix || '; move helpers to another file'}`);
    } else if (isScalarType(type)) {
      if (isSpecifiedScalarType(type)) report(`${name} is built into GraphQL and cannot be replaced; remove it`);
      // In place: fields refer to the schema's type, and it keeps the SDL's description.
      else if (isScalarDefinition(value)) setScalarFunctions(type, scalarFunctionsOf(value));
      else report(`${name} is a scalar; export a GraphQLScalarType for it`);
    } else if (typeof value !== 'object' || value === null) {
      report(`${name} must be an object of resolvers by field name`);
    } else if (isAbstractType(type)) {
      const { __authorize, __resolveReference, ...others } = value as Record<string, unknown>;
      attachTypeAuthorizer(schema, type, __authorize, report);
      attachReferenceResolver(type, __resolveReference, report);
      attachTypeResolver(type, others, report);
    } else if (isObjectType(type)) {
      const isSubscription = type === schema.getSubscriptionType();
      const { __authorize, __resolveReference, ...fields } = value as Record<string, unknown>;
      attachTypeAuthorizer(schema, type, __authorize, report);
      attachReferenceResolver(type, __resolveReference, report);
      for (const [fieldName, resolver] of Object.entries(fields)) {
        attachField(type, fieldName, resolver, isSubscription ? attached : undefined, report);
      }
    } else {
      report(`${name} is an ${kindOf(type)}, which has nothing to resolve; remove it`);
    }
  }
  attached.problems.push(...attachScalars(schema, new Set(Object.keys(exports))));
  return attached;
}

/**
 * How resolvers of a type are exported, with a type of the schema.
 * @param value that an author may have meant as the resolvers of several types
 */
export function exampleExport(schema: GraphQLSchema, value?: unknown): string {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const own = Object.values(schema.getTypeMap()).find(
    (type) => isObjectType(type) && type.astNode?.loc && !roots.includes(type),
  );
  const name = typesIn(schema, value)[0] ?? own?.name ?? 'Subscription';
  return `export const ${name} = { … }`;
}

/** Keys of an object that are types of the schema. */
function typesIn(schema: GraphQLSchema, value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).filter((key) => !key.startsWith('__') && schema.getType(key));
}

function kindOf(type: GraphQLNamedType): string {
  return isEnumType(type) ? 'enum' : 'input type';
}

/** Of any copy of graphql-js: only its functions are used. */
function isScalarDefinition(value: unknown): value is GraphQLScalarType {
  return Object.prototype.toString.call(value) === '[object GraphQLScalarType]';
}

function attachTypeAuthorizer(
  schema: GraphQLSchema,
  type: GraphQLObjectType | GraphQLAbstractType,
  authorize: unknown,
  report: (problem: string) => void,
): void {
  if (authorize === undefined) return;
  const isRoot = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].some(
    (root) => root === type,
  );
  if (typeof authorize !== 'function') report(`${type.name}.__authorize must be a function`);
  else if (isUnionType(type)) report(`${type.name}.__authorize: a union has none; put it on its object types`);
  else if (isRoot) report(`${type.name}.__authorize: no field returns it; put authorize on the fields of ${type.name}`);
  else setTypeAuthorizer(type, authorize as AuthorizeType);
}

function attachReferenceResolver(
  type: GraphQLObjectType | GraphQLAbstractType,
  resolve: unknown,
  report: (problem: string) => void,
): void {
  if (resolve === undefined) return;
  if (typeof resolve !== 'function') report(`${type.name}.__resolveReference must be a function`);
  else if (isUnionType(type)) report(`${type.name}.__resolveReference: a union has none; put it on its object types`);
  else setReferenceResolver(type, resolve as ReferenceResolver);
}

function attachTypeResolver(
  type: GraphQLNamedType & { resolveType?: unknown },
  value: Record<string, unknown>,
  report: (problem: string) => void,
): void {
  const { __resolveType, ...others } = value;
  for (const name of Object.keys(others)) {
    report(
      `${type.name}.${name}: an interface or union has only __resolveType and __authorize; put field resolvers on its object types`,
    );
  }
  if (__resolveType === undefined) return;
  if (typeof __resolveType === 'function') type.resolveType = __resolveType;
  else report(`${type.name}.__resolveType must be a function that returns the name of a type`);
}

function attachField(
  type: GraphQLObjectType,
  fieldName: string,
  resolver: unknown,
  subscription: Attached | undefined,
  report: (problem: string) => void,
): void {
  const field = Object.hasOwn(type.getFields(), fieldName) ? type.getFields()[fieldName] : undefined;
  if (!field) {
    const fix = didYouMean(fieldName, Object.keys(type.getFields())) || `; add it to ${type.name} in schema.graphql`;
    report(`${type.name}.${fieldName} is not a field of the schema${fix}`);
    return;
  }
  if (typeof resolver === 'function') {
    field.resolve = resolver as GraphQLFieldResolver<unknown, unknown>;
    return;
  }
  const known = subscription ? SUBSCRIPTION_PARTS : FIELD_PARTS;
  if (typeof resolver !== 'object' || resolver === null) {
    report(`${type.name}.${fieldName} must be a function or { ${known.join(', ')} }`);
    return;
  }
  const parts = resolver as Record<string, unknown>;
  for (const [part, value] of Object.entries(parts)) {
    if (!known.includes(part)) {
      const fix = didYouMean(part, known) || `; its parts are: ${known.join(', ')}`;
      report(`${type.name}.${fieldName} has no part "${part}"${fix}`);
    } else if (typeof value !== 'function') {
      report(`${type.name}.${fieldName}.${part} must be a function`);
    }
  }
  if (typeof parts['resolve'] === 'function')
    field.resolve = parts['resolve'] as GraphQLFieldResolver<unknown, unknown>;
  if (typeof parts['authorize'] === 'function') {
    if (subscription) subscription.authorizers.set(fieldName, parts['authorize'] as Authorize);
    else setAuthorizer(field, parts['authorize'] as AuthorizeField);
  }
  if (subscription && typeof parts['subscribe'] === 'function') {
    field.subscribe = parts['subscribe'] as GraphQLFieldResolver<unknown, unknown>;
    subscription.customSources.add(fieldName);
  }
}
