import { Kind, getNamedType, isAbstractType, isInterfaceType, isObjectType } from 'graphql';
import type {
  ConstDirectiveNode,
  GraphQLInterfaceType,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import { authorizerOf, typeAuthorizerOf } from '../authorize.ts';
import { lineOf } from '../schema/problem.ts';
import type { FederationLink } from './federation-link.ts';
import { mergedFieldSet, readFieldSet } from './field-set.ts';
import type { FieldSet } from './field-set.ts';
import { referenceResolverOf } from './reference-resolver.ts';
import { isResolvable } from './subgraph.ts';

type EntityType = GraphQLObjectType | GraphQLInterfaceType;

/** A type with a @key that this subgraph resolves. */
export interface Entity {
  readonly type: EntityType;
  /** A representation has the fields of one of them. */
  readonly keys: readonly FieldSet[];
  /** What is read of a representation: the fields of all keys, and of @requires. */
  readonly fields: FieldSet;
}

/** Checks the field sets of a type. undefined: it is no entity. */
export function readEntity(
  schema: GraphQLSchema,
  type: EntityType,
  link: FederationLink,
  problems: string[],
): Entity | undefined {
  const setsOf = (of: GraphQLNamedType, nodes: readonly ConstDirectiveNode[], coordinate: string): FieldSet[] =>
    nodes.flatMap((node) =>
      readFields(schema, of, node, `${lineOf(node)}${coordinate}: @${node.name.value}: `, problems),
    );
  const named = (nodes: readonly ConstDirectiveNode[] | undefined, name: string) =>
    (nodes ?? []).filter((node) => node.name.value === link.directives.get(name));

  const keyNodes = named(
    [type.astNode, ...type.extensionASTNodes].flatMap((node) => node?.directives ?? []),
    'key',
  );
  const resolvable = keyNodes.filter(isResolvable);
  const keys = setsOf(type, resolvable, type.name);
  setsOf(
    type,
    keyNodes.filter((node) => !isResolvable(node)),
    type.name,
  );
  const required = Object.values(type.getFields()).flatMap(({ name, type: returned, astNode }) => {
    const coordinate = `${type.name}.${name}`;
    setsOf(getNamedType(returned), named(astNode?.directives, 'provides'), coordinate);
    return setsOf(type, named(astNode?.directives, 'requires'), coordinate);
  });
  const [first] = resolvable;
  if (!first) return undefined;
  const fields = mergedFieldSet([...keys, ...required]);
  const problem = referenceProblem(schema, type, fields);
  if (problem) problems.push(`${lineOf(first)}${type.name}: ${problem}`);
  return { type, keys, fields };
}

function readFields(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  node: ConstDirectiveNode,
  coordinate: string,
  problems: string[],
): FieldSet[] {
  const report = (problem: string) => void problems.push(coordinate + problem);
  const value = node.arguments?.find(({ name }) => name.value === 'fields')?.value;
  // graphql-js reports a directive without it.
  if (!value) return [];
  if (value.kind === Kind.STRING) {
    const set = readFieldSet(schema, type, value.value, report);
    return set ? [set] : [];
  }
  report('fields must be a text in quotes, such as "id"');
  return [];
}

/** Why an entity cannot do without a `__resolveReference`; undefined if it can, or has one. */
function referenceProblem(schema: GraphQLSchema, type: EntityType, fields: FieldSet): string | undefined {
  if (referenceResolverOf(type)) return undefined;
  const fix = `export ${type.name}.__resolveReference from resolvers, which loads the entity by its key`;
  if (isInterfaceType(type))
    return `is an interface with a key, so a representation does not say which type it is; ${fix}`;
  const [name] = [type, ...typesWithin(schema, fields)].flatMap((one) => authorizerName(one) ?? []);
  return name && `${name} would decide about a representation, which the client writes; ${fix}`;
}

/** The types of the objects that a representation has, at any depth. */
function typesWithin(schema: GraphQLSchema, set: FieldSet): EntityType[] {
  return [...set.values()].flatMap(({ type, fields }) => {
    if (!fields) return [];
    const named = getNamedType(type);
    const types = isAbstractType(named) ? schema.getPossibleTypes(named) : isObjectType(named) ? [named] : [];
    return [...types, ...typesWithin(schema, fields)];
  });
}

/** What the graph asks before it shows an object of the type, or a field of it; undefined: nothing. */
function authorizerName(type: EntityType): string | undefined {
  const authorized = [type, ...type.getInterfaces()].find(typeAuthorizerOf);
  if (authorized) return `${authorized.name}.__authorize`;
  const field = Object.values(type.getFields()).find(authorizerOf);
  return field && `authorize of ${type.name}.${field.name}`;
}
