import {
  Kind,
  OperationTypeNode,
  TypeInfo,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isValueNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/** graphql-jit 0.8.9 turns strings that start with one of its markers into source code: `__MAGIC_DATE__…`, `__MAGIC_NAN__…`. */
const MARKER = '__MAGIC_';

/** Fragments expanded, so a document within its limits stays far below. */
const MAX_PATHS = 5_000;

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
  const types = new TypeInfo(schema);
  const spreads = new Map<string, number>();
  const found = (reason: string) => {
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
          case Kind.FRAGMENT_SPREAD:
            spreads.set(node.name.value, (spreads.get(node.name.value) ?? 0) + 1);
            break;
          case Kind.LIST:
          case Kind.OBJECT:
            if (JSON.stringify(node).includes(`"kind":"${Kind.VARIABLE}"`)) found('a variable inside of a literal');
            break;
          case Kind.STRING:
            if (node.value.includes(MARKER)) found('a string holds a marker of the code generator');
            break;
          default:
        }
        if (!isValueNode(node) || node.kind === Kind.VARIABLE) return;
        const type = types.getInputType();
        const named = type && getNamedType(type);
        // What a custom scalar makes of a literal may be a string that holds a marker, or no JSON at all.
        if (isScalarType(named) && !isSpecifiedScalarType(named)) found('a literal of a custom scalar');
        if (isEnumType(named) && !named.getValues().every(({ value }) => isSafe(value))) found('an enum of odd values');
      },
    }),
  );
  return obstacle ?? conditionObstacle(document, spreads) ?? pathObstacle(schema, document, operation);
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

/**
 * graphql-jit keeps conditions on the nodes themselves, and skips a fragment that it met before even if that one was
 * left out: https://github.com/zalando-incubator/graphql-jit/issues/111
 */
function conditionObstacle(document: DocumentNode, spreads: ReadonlyMap<string, number>): string | undefined {
  let hasCondition = false;
  visit(document, {
    Directive: (node) => {
      hasCondition ||= node.name.value === 'skip' || node.name.value === 'include';
    },
  });
  if (!hasCondition) return undefined;
  if ([...spreads.values()].some((count) => count > 1)) return '@skip or @include beside a fragment spread twice';
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return operations.length > 1 ? '@skip or @include in a document of several operations' : undefined;
}

/** Two fields share one `info` where their paths, joined by "_" from the end, read the same: a.b_c and a_… */
function pathObstacle(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): string | undefined {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const paths = new Map<string, string>();
  let visited = 0;
  let obstacle: string | undefined;
  const add = (path: readonly string[]) => {
    const [joined, exact] = [path.join('_'), path.join(' ')];
    if ((paths.get(joined) ?? exact) !== exact) obstacle ??= `the path ${exact} reads like another`;
    paths.set(joined, exact);
  };
  const walkValue = (
    set: SelectionSetNode | undefined,
    type: GraphQLOutputType,
    path: string[],
    lists: number,
  ): void => {
    if (isNonNullType(type)) return walkValue(set, type.ofType, path, lists);
    if (isListType(type)) return walkValue(set, type.ofType, [`idx${lists}`, ...path], lists + 1);
    if (!set) return;
    if (isObjectType(type)) walkSet(set, type.name, path, lists);
    if (!isAbstractType(type)) return;
    add(path);
    for (const { name } of schema.getPossibleTypes(type)) walkSet(set, name, [name, ...path], lists);
  };
  const walkSet = (set: SelectionSetNode, typeName: string, path: string[], lists: number): void => {
    const type = schema.getType(typeName);
    if (!isObjectType(type)) return;
    for (const selection of set.selections) {
      if (obstacle !== undefined || ++visited > MAX_PATHS) {
        obstacle ??= 'too many fields';
        return;
      }
      if (selection.kind === Kind.FIELD) {
        const field = type.getFields()[selection.name.value];
        const below = [(selection.alias ?? selection.name).value, ...path];
        add(below);
        if (field) walkValue(selection.selectionSet, field.type, below, lists);
      } else {
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        if (fragment) walkSet(fragment.selectionSet, typeName, path, lists);
      }
    }
  };
  const root = schema.getRootType(operation.operation);
  if (root) walkSet(operation.selectionSet, root.name, [], 0);
  return obstacle;
}
