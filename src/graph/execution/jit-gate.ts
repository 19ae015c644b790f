import {
  Kind,
  OperationTypeNode,
  TypeInfo,
  getNamedType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type {
  DocumentNode,
  GraphQLInputType,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  ValueNode,
} from 'graphql';
import { integerDigitsOf } from '../schema/integer-scalars.ts';
import { pathObstacle } from './jit-paths.ts';

/**
 * graphql-jit 0.8.9 turns a string that starts with one of its markers, or has one after a quote, into source code: `__MAGIC_DATE__…`,
 * `__MAGIC_NAN__…`. The name of an enum value can do neither: names that start with `__` are refused in a schema.
 */
const MARKER = '__MAGIC_';

/**
 * Why no operation of a schema may be compiled; undefined: it may. Default values reach the generated code, and graphql-jit names a
 * resolver by type name and field name without a separator.
 */
export function schemaObstacle(schema: GraphQLSchema): string | undefined {
  const resolvers = new Map<string, string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        const own = `${type.name}.${field.name}`;
        const other = resolvers.get(type.name + field.name);
        if (other !== undefined) return `${own} and ${other} have one name in compiled code`;
        resolvers.set(type.name + field.name, own);
        const unsafe = field.args.find((argument) => !isSafe(argument.defaultValue));
        if (unsafe) return `the default value of ${own}(${unsafe.name}:) cannot be written as code`;
      }
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      const unsafe = fields.find((field) => !isSafe(field.defaultValue));
      if (unsafe) return `the default value of ${type.name}.${unsafe.name} cannot be written as code`;
    }
  }
  return undefined;
}

/**
 * Why graphql-js must execute an operation; undefined: it may be compiled. For each reason graphql-jit 0.8.9 runs code that a client
 * wrote, or gives another result than graphql-js. Checks the parsed document, because escapes may hide a marker in the text.
 */
export function compileObstacle(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string | undefined {
  if (operation.operation === OperationTypeNode.MUTATION) return 'a mutation is executed once';
  let obstacle: string | undefined;
  let hasCondition = false;
  const types = new TypeInfo(schema);
  const spreads = new Map<string, number>();
  const found = (reason: string | undefined) => {
    obstacle ??= reason;
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      enter(node) {
        switch (node.kind) {
          case Kind.NAME:
            if (node.value in Object.prototype) found('a name that every object inherits');
            if (node.value === '__schema' || node.value === '__type') found('introspection');
            break;
          case Kind.DIRECTIVE:
            hasCondition ||= node.name.value === 'skip' || node.name.value === 'include';
            break;
          case Kind.FRAGMENT_SPREAD:
            spreads.set(node.name.value, (spreads.get(node.name.value) ?? 0) + 1);
            break;
          case Kind.VARIABLE_DEFINITION: {
            const type = types.getInputType();
            // graphql-jit generates the coercion of each member, without end for a recursive type.
            if (type && isRecursive(getNamedType(type), [])) found('a variable of a recursive input type');
            break;
          }
          default:
            if (isValueNode(node)) found(literalObstacle(node, types.getInputType()));
        }
      },
    }),
  );
  // graphql-jit stores conditions on AST nodes, and skips the second spread of a fragment even if the first was left out:
  // https://github.com/zalando-incubator/graphql-jit/issues/111
  const isSpreadTwice = [...spreads.values()].some((count) => count > 1);
  if (hasCondition && isSpreadTwice) found('@skip or @include beside a fragment spread twice');
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (hasCondition && operations.length > 1) found('@skip or @include in a document of several operations');
  return obstacle ?? pathObstacle(schema, document, operation, hasCondition);
}

function literalObstacle(node: ValueNode, type: GraphQLInputType | null | undefined): string | undefined {
  if (node.kind === Kind.VARIABLE) return undefined;
  if (node.kind === Kind.STRING && node.value.includes(MARKER)) return 'a string holds a marker of the code generator';
  if (JSON.stringify(node).includes(`"kind":"${Kind.VARIABLE}"`)) return 'a variable inside of a literal';
  const named = type && getNamedType(type);
  // A custom scalar may parse a literal to a string with a marker, or to a value that JSON does not have.
  if (isScalarType(named) && !isSpecifiedScalarType(named) && integerDigitsOf(named) === undefined)
    return 'a literal of a custom scalar';
  return undefined;
}

function isRecursive(type: GraphQLNamedType, above: readonly GraphQLNamedType[]): boolean {
  if (!isInputObjectType(type)) return false;
  if (above.includes(type)) return true;
  return Object.values(type.getFields()).some((field) => isRecursive(getNamedType(field.type), [...above, type]));
}

/** True if a default value, which is JSON data of the SDL, stays data when graphql-jit writes it as code. */
function isSafe(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes(MARKER);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => !key.includes(MARKER) && isSafe(member));
}
