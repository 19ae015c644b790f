import {
  Kind,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type {
  FieldNode,
  GraphQLArgument,
  GraphQLField,
  GraphQLFieldResolver,
  GraphQLInputField,
  GraphQLResolveInfo,
  GraphQLSchema,
} from 'graphql';
import { nodesOf, signalOf } from '../context/context.ts';
import { IS_17, completeInfo } from '../graphql-version.ts';
import { freezeDeep } from '../../base/json/frozen.ts';
import { mayReadInfo } from './reads-info.ts';

/**
 * Keeps the objects of executions apart. A resolver may write to an object that it receives, or use it as the key of a cache. If two
 * executions received the same object, the second could learn about the first one's user without reading a fact, and its result
 * would be shared wrongly.
 *
 * Objects that graphql-js and graphql-jit pass to resolvers:
 *
 * | object                              | graphql-js             | graphql-jit            | protection                  |
 * |-------------------------------------|------------------------|------------------------|-----------------------------|
 * | `args` and literals in it           | one for each call      | one for each call      | none needed                 |
 * | defaults of arguments, input fields | one for the schema     | one for each call      | frozen, `isolateArguments`  |
 * | variables and their defaults        | one for each execution | one for each execution | none needed                 |
 * | a custom scalar's value as sent     | one for the operation  | one for the operation  | frozen by `GraphRuntime`    |
 * | `info`, `path`, `variableValues`    | one for each execution | one for each execution | none needed                 |
 * | `info.fieldNodes`                   | one for each execution | one for the document   | `isolateInfo`               |
 * | `info.operation`                    | one for the document   | one for the document   | `isolateInfo`               |
 * | `info.fragments`                    | one for each execution | one for the document   | frozen by `Planner`         |
 * | `extensions` in the schema          | one for the schema     | one for the schema     | frozen                      |
 * | the source and `info.rootValue`     | one for the event      | one for the event      | frozen by `Payload`         |
 *
 * Enum values are strings: a graph cannot define others. A value that a custom scalar parses belongs to one execution, unless the scalar
 * itself keeps it. AST nodes and types have no protection: all executions share them.
 */

type Path = GraphQLResolveInfo['path'];
type Field = Pick<GraphQLField<unknown, unknown>, 'args'>;
type Resolver = GraphQLFieldResolver<unknown, unknown>;
type InputDefinition = Pick<GraphQLArgument | GraphQLInputField, 'type' | 'defaultValue'>;

/** The `info` that compiled code passes to resolvers. */
export interface CompiledResolveInfo extends GraphQLResolveInfo {
  readonly isCompiled?: true;
  /** Compiled code sets variables without a default last, behind arguments that follow them in the schema. */
  readonly hasLateArguments?: boolean;
}

/** What compiled code adds to the `info` of a field: decided once, when the operation is compiled. */
export function compiledInfo(
  field: Field | undefined,
  node: FieldNode,
): Required<Pick<CompiledResolveInfo, 'isCompiled' | 'hasLateArguments'>> {
  const passed = new Map((node.arguments ?? []).map(({ name, value }) => [name.value, value.kind]));
  let isLate = false;
  let hasLateArguments = false;
  for (const argument of field?.args ?? []) {
    const hasDefault = argument.defaultValue !== undefined;
    if (!hasDefault && passed.get(argument.name) === Kind.VARIABLE) isLate = true;
    else if (hasDefault || passed.has(argument.name)) hasLateArguments ||= isLate;
  }
  return { isCompiled: true, hasLateArguments };
}

/** Freezes the default values and extensions of a schema. The values come from its SDL, so they are JSON data. */
export function freezeSchemaValues(schema: GraphQLSchema): void {
  Object.freeze(schema.extensions);
  for (const directive of schema.getDirectives()) freezeDefinition(directive);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    freezeDefinition(type);
    if (isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)) {
      for (const field of Object.values<Definition>(type.getFields())) freezeDefinition(field);
    }
  }
}

interface Definition {
  readonly extensions: object;
  readonly args?: readonly Definition[];
  readonly defaultValue?: unknown;
}

function freezeDefinition({ extensions, args, defaultValue }: Definition): void {
  freezeDeep(extensions);
  if (isObject(defaultValue)) freezeDeep(defaultValue);
  for (const argument of args ?? []) freezeDefinition(argument);
}

/**
 * A resolver that receives no object of another execution, and its arguments in the schema's order. Where `resolve` cannot read `info`, none
 * is isolated: copies for it took 3 % of a result for one user (4,000 sockets, K=16).
 */
export function isolated(field: Field, resolve: Resolver): Resolver {
  const readsInfo = mayReadInfo(resolve);
  if (!readsInfo && field.args.length === 0) return resolve;
  const withArguments = isolateArguments(field, resolve);
  return (source, args, context, info: CompiledResolveInfo) => {
    const own: unknown = info.hasLateArguments ? inSchemaOrder(field, args as Record<string, unknown>) : args;
    return withArguments(source, own, context, readsInfo ? isolateInfo(context, info) : info);
  };
}

/** Arguments in the order of graphql-js, whatever the order in which compiled code has set them. */
function inSchemaOrder({ args: definitions }: Field, args: Record<string, unknown>): Record<string, unknown> {
  const ordered: Record<string, unknown> = {};
  for (const { name } of definitions) if (Object.hasOwn(args, name)) ordered[name] = args[name];
  return ordered;
}

/**
 * An `info` whose `operation` and `fieldNodes` belong to this execution. Calls for the items of a list have one `fieldNodes`, as
 * with graphql-js: loaders that are keyed by it batch.
 */
export function isolateInfo(context: unknown, info: CompiledResolveInfo): GraphQLResolveInfo {
  // graphql-js and graphql-jit make an `info` for each call and do not read it again.
  const own = info as { -readonly [Key in keyof CompiledResolveInfo]: CompiledResolveInfo[Key] };
  const nodes = nodesOf(context);
  own.operation = nodes ? nodes.operation(info.operation) : { ...info.operation };
  if (info.isCompiled)
    own.fieldNodes = nodes && isInList(info.path) ? nodes.fieldNodes(info.fieldNodes) : info.fieldNodes.slice();
  if (IS_17) completeInfo(own, info.isCompiled === true, () => signalOf(context));
  return own;
}

/** Copies default values for each call, as compiled code does: a write succeeds, and no other execution sees it. */
function isolateArguments(field: Field, resolve: Resolver): Resolver {
  if (!field.args.some((definition) => hasObjectDefault(definition, new Set()))) return resolve;
  return (source, args, context, info: CompiledResolveInfo) => {
    if (!info.isCompiled) copyDefaults(field, args as Record<string, unknown>);
    return resolve(source, args, context, info);
  };
}

/** Replaces default values in coerced arguments by copies. */
export function copyDefaults({ args: definitions }: Field, args: Record<string, unknown>): void {
  for (const definition of definitions) {
    const value = args[definition.name];
    if (isObject(value)) args[definition.name] = withCopies(value, definition);
  }
}

function withCopies(value: unknown, { type, defaultValue }: InputDefinition): unknown {
  if (!isObject(value)) return value;
  if (value === defaultValue) return copyOf(value);
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (isListType(nullable)) {
    const item = { type: nullable.ofType, defaultValue: undefined };
    return (value as unknown[]).map((inner) => withCopies(inner, item));
  }
  if (!isInputObjectType(nullable)) return value;
  const fields = nullable.getFields();
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withCopies(inner, fields[name]!)]));
}

/** A copy of JSON data. An object that occurs twice, such as a field's default in an argument's default, becomes two. */
function copyOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)]));
}

/** True if a value of this definition may contain a default that is an object. */
function hasObjectDefault({ type, defaultValue }: InputDefinition, above: Set<unknown>): boolean {
  if (isObject(defaultValue)) return true;
  const named = getNamedType(type);
  if (!isInputObjectType(named) || above.has(named)) return false;
  above.add(named);
  return Object.values(named.getFields()).some((field) => hasObjectDefault(field, above));
}

/** True for a field below a list: only there a resolver is called several times in one execution. */
function isInList(path: Path | undefined): boolean {
  for (let at = path; at; at = at.prev) if (typeof at.key === 'number') return true;
  return false;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
