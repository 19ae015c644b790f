import {
  GraphQLError,
  getNamedType,
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import type {
  GraphQLAbstractType,
  GraphQLField,
  GraphQLFieldResolver,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
} from 'graphql';
import { GraphError, isGraphQLError } from '../../base/errors.ts';
import { setAccessRule } from '../access/access-rule.ts';
import type { AccessRule } from '../access/access-rule.ts';
import { parseAccessRules } from '../access/access-rules.ts';
import { authorizerOf, authorized } from '../authorize.ts';
import { setScalarFunctions } from '../graphql-version.ts';
import type { TombstoneAction } from '../schema/tombstone-binding.ts';
import { freezeSchemaValues, isolateInfo, isolated } from './isolation.ts';
import type { CompiledResolveInfo } from './isolation.ts';
import { listDepth, settled } from './list-items.ts';
import { typeNameResolver } from './type-name-resolver.ts';
import { valueCheck, withCheckedValues } from './value-check.ts';
import { valueAt } from '../../base/json/value-at.ts';

type Field = GraphQLField<unknown, unknown>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;
/** What feeds a Subscription field, as far as its value goes. */
export interface Source {
  /** Path of the field's value in the payload. */
  readonly payload: readonly string[];
  /** NULL or ROW: the field is null where there is no payload, and its resolver is not called. */
  readonly tombstone?: TombstoneAction;
}
type Method = (...args: Parameters<Resolver> extends [unknown, ...infer Others] ? Others : never) => unknown;

/** Names that JSON values inherit: reading one from a payload must not return the inherited property. */
const INHERITED = new Set(
  [Object, Array, String, Number, Boolean].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)),
);

/** Key in the extensions of fields that have a resolver of the graph. */
const RESOLVER = 'crier.resolver';

/** Key in the extensions of bound fields that are read from the payload: the path of their value. */
const PAYLOAD_PATH = 'crier.payload';

/** The path of a bound field's value in the payload; undefined for a field with a resolver or without @kafka and @redis. */
export function payloadPathOf(field: Field): readonly string[] | undefined {
  return field.extensions[PAYLOAD_PATH] as readonly string[] | undefined;
}

/** True if the graph has a resolver for the field. Other fields are read from their source, without a context. */
export function hasResolver(field: Field): boolean {
  return RESOLVER in field.extensions;
}

/** Key in the extensions of interfaces and unions that have a `__resolveType` of the graph. */
const TYPE_RESOLVER = 'crier.resolveType';

/** True if the graph has a `__resolveType` for the type. The values of other types say it by their `__typename`. */
export function hasTypeResolver(type: GraphQLAbstractType): boolean {
  return TYPE_RESOLVER in type.extensions;
}

/**
 * Prepares a schema with resolvers for execution, with the same results from graphql-js and graphql-jit. graphql-jit reads a field without
 * a resolver as a plain property. That is right for a payload, which is JSON. A resolver may return promises and functions, so the
 * fields below it get a default resolver like that of graphql-js.
 */
export function makeExecutable(schema: GraphQLSchema, bindings: ReadonlyMap<string, Source>): void {
  const subscription = schema.getSubscriptionType();
  const own = Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type));
  const authored: Field[] = [];
  for (const type of own.filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const check = valueCheck(schema, field.type);
      if (check)
        field.resolve = withCheckedValues(check, field.resolve ?? readOf(type === subscription, field, bindings));
      const authorize = authorizerOf(field);
      if (authorize)
        field.resolve = authorized(authorize, useOf(schema, type, field), field.resolve ?? defaultRead(field));
      if (field.resolve || (type === subscription && field.subscribe)) authored.push(field);
    }
  }
  for (const field of authored) {
    field.extensions = { ...field.extensions, [RESOLVER]: true };
    if (field.resolve) field.resolve = isolated(field, field.resolve);
  }
  for (const field of Object.values(subscription?.getFields() ?? {})) {
    const binding = bindings.get(field.name);
    if (binding && !field.resolve) field.extensions = { ...field.extensions, [PAYLOAD_PATH]: binding.payload };
    field.resolve = binding ? fromPayload(binding, field.resolve) : (field.resolve ?? ownRead(field.name));
  }
  const crier = schema.getQueryType()?.getFields()['crier'];
  if (crier && !crier.astNode?.loc) crier.resolve ??= () => 'crier';
  for (const type of reachableFrom(schema, authored)) {
    for (const field of Object.values(type.getFields())) field.resolve ??= defaultRead(field);
  }
  const access = parseAccessRules(schema);
  if (access.problems.length > 0) throw new GraphError(access.problems.join('\n'));
  for (const type of own) {
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        if (!field.resolve && INHERITED.has(field.name)) field.resolve = ownRead(field.name);
        const depth = listDepth(field.type);
        if (field.resolve && depth > 0) field.resolve = settled(field.resolve, depth);
        const rule = access.fields.get(field);
        if (!rule) continue;
        setAccessRule(field, rule);
        if (type !== subscription) {
          field.resolve = guarded(rule, useOf(schema, type, field), field.resolve ?? ownRead(field.name));
        }
      }
    } else if (isAbstractType(type)) {
      if (type.resolveType) type.extensions = { ...type.extensions, [TYPE_RESOLVER]: true };
      type.resolveType = checkedTypeResolver(schema, type, access.types);
    } else if (isScalarType(type) && !isSpecifiedScalarType(type)) {
      setScalarFunctions(type, { serialize: checkedSerialize(type) });
    }
  }
  freezeSchemaValues(schema);
}

/** What a field without a resolver of the graph reads from its source: on Subscription, `fromPayload` has found it. */
function readOf(isSubscription: boolean, field: Field, bindings: ReadonlyMap<string, Source>): Resolver {
  if (!isSubscription) return defaultRead(field);
  return bindings.has(field.name) ? (value) => value : ownRead(field.name);
}

function fromPayload(binding: Source, resolve: Resolver | undefined): Resolver {
  const { payload: path, tombstone } = binding;
  if (!resolve) return (payload) => valueAt(payload, path);
  if (tombstone === 'NULL' || tombstone === 'ROW') {
    return (payload, args, context, info) =>
      payload === null ? null : resolve(valueAt(payload, path), args, context, info);
  }
  return (payload, args, context, info) => resolve(valueAt(payload, path), args, context, info);
}

function ownRead(name: string): Resolver {
  return (source) =>
    typeof source === 'object' && source !== null && Object.hasOwn(source, name)
      ? (source as Record<string, unknown>)[name]
      : undefined;
}

/** Like graphql-js's default resolver: a property, or the result of a method. */
function defaultRead(field: Field): Resolver {
  const { name } = field;
  if (INHERITED.has(name)) return ownRead(name);
  const call = isolated(field, (source, args, context, info) =>
    (source as Record<string, Method>)[name]!(args, context, info),
  );
  return (source, args, context, info) => {
    if ((typeof source !== 'object' || source === null) && typeof source !== 'function') return undefined;
    const property = (source as Record<string, unknown>)[name];
    return typeof property === 'function' ? call(source, args, context, info) : property;
  };
}

/** Object types whose values may be in the result of one of `fields`. */
function reachableFrom(schema: GraphQLSchema, fields: readonly Field[]) {
  const reached = new Set<ReturnType<GraphQLSchema['getPossibleTypes']>[number]>();
  const queue = fields.map((field) => getNamedType(field.type));
  for (let type = queue.pop(); type; type = queue.pop()) {
    if (isAbstractType(type)) queue.push(...schema.getPossibleTypes(type));
    if (!isObjectType(type) || reached.has(type)) continue;
    reached.add(type);
    queue.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  }
  return reached;
}

/** What a client does that selects the field, such as `read "Order.total"`. */
function useOf(schema: GraphQLSchema, type: GraphQLObjectType, { name }: Field): string {
  return `${type === schema.getMutationType() ? 'run' : 'read'} "${type.name}.${name}"`;
}

/** A resolver that runs only for connections that meet the rule. @param use what is refused */
function guarded(rule: AccessRule, use: string, resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    rule.check(context, use);
    return resolve(source, args, context, info);
  };
}

/** @param rules by type: a value of the type is only for connections that meet its rule */
function checkedTypeResolver(
  schema: GraphQLSchema,
  type: GraphQLAbstractType,
  rules: ReadonlyMap<GraphQLObjectType, AccessRule>,
) {
  const typeNameOf = typeNameResolver(schema, type);
  const byName = new Map(schema.getPossibleTypes(type).map((possible) => [possible.name, rules.get(possible)]));
  return (value: unknown, context: unknown, info: CompiledResolveInfo): string | undefined => {
    try {
      const name = typeNameOf(value, context, isolateInfo(context, info));
      byName.get(name)?.check(context, `read this "${type.name}"`);
      return name;
    } catch (error) {
      // Compiled code cannot catch it. Without a type the execution fails, and `Executor` repeats it with graphql-js.
      if (info.isCompiled) return undefined;
      throw error;
    }
  };
}

/**
 * Replaces the message of an error that is not a GraphQLError: clients must not see it, and compiled code keeps only the message of what
 * `serialize` throws.
 */
function checkedSerialize(type: GraphQLScalarType): (value: unknown) => unknown {
  const { serialize, name } = type;
  return (value) => {
    let result: unknown;
    try {
      result = serialize.call(type, value);
    } catch (error) {
      if (isGraphQLError(error)) throw error;
      throw new GraphQLError(`${name} cannot represent the value of this field`);
    }
    if (result === undefined || result === null || Number.isNaN(result)) {
      throw new GraphQLError(`${name} cannot represent the value of this field`);
    }
    // JSON has no such value.
    return typeof result === 'bigint' ? String(result) : result;
  };
}
