import {
  Kind,
  OperationTypeNode,
  TypeInfo,
  getNamedType,
  isEnumType,
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
import { pathObstacle } from './jit-paths.ts';

/** graphql-jit 0.8.9 turns strings that start with one of its markers into source code: `__MAGIC_DATE__…`, `__MAGIC_NAN__…`. */
const MARKER = '__MAGIC_';

/**
 * Why nothing of a schema may be compiled: its default values reach the generated code, and graphql-jit tells resolvers
 * apart by type and field name written together.
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
      const inherited = fields.find((field) => field.name in Object.prototype);
      if (inherited) return `${type.name}.${inherited.name} is a name that every object inherits`;
      const unsafe = fields.find((field) => !isSafe(field.defaultValue));
      if (unsafe) return `the default value of ${type.name}.${unsafe.name} cannot be written as code`;
    }
  }
  return undefined;
}

/**
 * Why an operation must run on graphql-js: each reason is a way in which graphql-jit 0.8.9 executes what a client wrote, or
 * answers otherwise than graphql-js. Looks at the parsed document, because the text may hide a marker in escapes.
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
            // graphql-jit writes the coercion out, member by member, without end.
            if (type && isRecursive(getNamedType(type), [])) found('a variable of a recursive input type');
            break;
          }
          default:
            if (isValueNode(node)) found(literalObstacle(node, types.getInputType()));
        }
      },
    }),
  );
  // graphql-jit keeps conditions on the nodes themselves, and skips a fragment that it met before even if that one was
  // left out: https://github.com/zalando-incubator/graphql-jit/issues/111
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
  // What a custom scalar makes of a literal may be a string that holds a marker, or no JSON at all.
  if (isScalarType(named) && !isSpecifiedScalarType(named)) return 'a literal of a custom scalar';
  if (isEnumType(named) && !named.getValues().every(({ value }) => isSafe(value))) return 'an enum of odd values';
  return undefined;
}

function isRecursive(type: GraphQLNamedType, above: readonly GraphQLNamedType[]): boolean {
  if (!isInputObjectType(type)) return false;
  if (above.includes(type)) return true;
  return Object.values(type.getFields()).some((field) => isRecursive(getNamedType(field.type), [...above, type]));
}

function isSafe(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes(MARKER);
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isSafe);
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null || typeof value === 'boolean';
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === null || prototype === Object.prototype) &&
    Object.entries(value).every(([key, member]) => !key.includes(MARKER) && isSafe(member))
  );
}
