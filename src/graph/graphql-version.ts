import * as graphql from 'graphql';
import type {
  ConstValueNode,
  GraphQLArgument,
  GraphQLError,
  GraphQLInputField,
  GraphQLInputType,
  GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  NamedTypeNode,
  OperationDefinitionNode,
  ValueNode,
  VariableDefinitionNode,
} from 'graphql';

/**
 * Everything in which graphql-js 16 and 17 differ for crier; the types are those of 16. When crier requires 17, which needs Node 22,
 * `IS_17` is true: inline the functions that remain, and delete this file.
 */
export const IS_17 = graphql.versionInfo.major >= 17;

/** What 17 has, and 16 has not. */
interface Of17 {
  readonly coerceInputLiteral: (node: ValueNode, type: GraphQLInputType) => unknown;
  readonly coerceInputValue: (value: unknown, type: GraphQLInputType) => unknown;
  readonly validateInputValue: (value: unknown, type: GraphQLInputType, onError: (error: GraphQLError) => void) => void;
}
const of17 = graphql as unknown as Of17;

type Values = Record<string, unknown>;
/** What 17 passes as the variables of an operation. */
interface VariableValues {
  readonly sources: Values;
  readonly coerced: Values;
}

/** Coerced variables, and the same as `getArgumentValues` takes them. */
export interface CoercedVariables {
  readonly coerced: Values;
  readonly forArguments: Values;
}

/** `getVariableValues`, which returns an object of sources and coerced values in 17. */
export function coerceVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  inputs: Readonly<Values>,
  options: { readonly maxErrors: number },
): CoercedVariables | { readonly errors: readonly GraphQLError[] } {
  const result = graphql.getVariableValues(schema, definitions, inputs, options);
  if (result.errors) return { errors: result.errors };
  if (!IS_17) return { coerced: result.coerced, forArguments: result.coerced };
  const { variableValues } = result as unknown as { readonly variableValues: VariableValues };
  return { coerced: variableValues.coerced, forArguments: variableValues as unknown as Values };
}

/** `info.variableValues` of compiled code, which has only the coerced values: as 17 passes them. */
class CompiledVariables implements VariableValues {
  readonly coerced: Values;
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;

  constructor({ schema, operation, variableValues }: GraphQLResolveInfo) {
    this.coerced = variableValues;
    this.#schema = schema;
    this.#operation = operation;
  }

  get sources(): Values {
    const sourceOf = ({ variable, type, defaultValue }: VariableDefinitionNode) => {
      const name = variable.name.value;
      const literal = defaultValue && { literal: defaultValue };
      const signature = { name, type: graphql.typeFromAST(this.#schema, type as NamedTypeNode), default: literal };
      return [name, { signature, value: this.coerced[name] }] as const;
    };
    return Object.fromEntries((this.#operation.variableDefinitions ?? []).map(sourceOf));
  }
}

/** What 17 has in `info` beside what 16 has. */
interface InfoOf17 {
  variableValues: unknown;
  getAbortSignal?: () => AbortSignal;
  getAsyncHelpers?: () => AsyncHelpers;
}
interface AsyncHelpers {
  readonly promiseAll: (values: Iterable<unknown>) => Promise<unknown[]>;
  readonly track: (promises: readonly unknown[]) => void;
}
/** crier waits for nothing that an execution has left behind. */
const ASYNC_HELPERS: AsyncHelpers = Object.freeze({
  promiseAll: (values: Iterable<unknown>) => Promise.all(values),
  track: (promises: readonly unknown[]) => void Promise.allSettled(promises),
});

/** For 17: gives `info` what resolvers find there, whether compiled code or graphql-js has made it. */
export function completeInfo(info: GraphQLResolveInfo, isCompiled: boolean, getAbortSignal: () => AbortSignal): void {
  const own = info as InfoOf17;
  own.getAbortSignal = getAbortSignal;
  own.getAsyncHelpers ??= () => ASYNC_HELPERS;
  if (isCompiled && !(own.variableValues instanceof CompiledVariables))
    own.variableValues = new CompiledVariables(info);
}

/** The value of a literal without variables; undefined: the type does not have it. */
export function valueOfLiteral(node: ValueNode, type: GraphQLInputType): unknown {
  return IS_17 ? of17.coerceInputLiteral(node, type) : graphql.valueFromAST(node, type);
}

/** `coerceInputValue`, which tells no reason in 17. @param onError throws */
export function coerceInput(value: unknown, type: GraphQLInputType, onError: (error: GraphQLError) => never): unknown {
  if (!IS_17) return graphql.coerceInputValue(value, type, (_path, _value, error) => onError(error));
  const coerced = of17.coerceInputValue(value, type);
  if (coerced === undefined) of17.validateInputValue(value, type, onError);
  return coerced;
}

type Input = GraphQLArgument | GraphQLInputField;
/** 17 coerces `default` when it is first read, keeps the value, and ignores `defaultValue` beside it. */
interface InputOf17 {
  default?: { readonly literal?: ConstValueNode } | undefined;
  _memoizedCoercedDefaultValue?: unknown;
}

/**
 * Gives the arguments and input fields of a schema that was built from SDL the `defaultValue` of 16, where 17 has only the literal:
 * graphql-jit 0.8.9 reads no other. A default that does not fit its type is undefined, as in 16.
 */
export function coerceDefaults(schema: GraphQLSchema): void {
  const coerceAll = (inputs: readonly Input[]) => {
    for (const input of inputs) {
      const literal = (input as InputOf17).default?.literal;
      if (literal) setDefaultValue(input, valueOfLiteral(literal, input.type));
    }
  };
  if (!IS_17) return;
  for (const { args } of schema.getDirectives()) coerceAll([...args]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (graphql.isInputObjectType(type)) coerceAll(Object.values(type.getFields()));
    if (!graphql.isObjectType(type) && !graphql.isInterfaceType(type)) continue;
    for (const { args } of Object.values(type.getFields())) coerceAll([...args]);
  }
}

/** Replaces the default of an argument or input field. */
export function setDefaultValue(input: Input, value: unknown): void {
  input.defaultValue = value;
  if (!IS_17) return;
  (input as InputOf17).default = undefined;
  (input as InputOf17)._memoizedCoercedDefaultValue = undefined;
}

type ScalarFunctions = Pick<GraphQLScalarType, 'serialize' | 'parseValue' | 'parseLiteral'>;
/** Of 17, whose constructor sets the old names, too. `coerceInputLiteral` receives no variables: `parseLiteral` reads literals with some. */
interface ScalarOf17 {
  coerceOutputValue?: ScalarFunctions['serialize'];
  coerceInputValue?: ScalarFunctions['parseValue'];
  coerceInputLiteral?: ((node: ConstValueNode) => unknown) | undefined;
}

/** Replaces functions of a scalar. 17 calls them by new names, which its constructor takes from the old ones. */
export function setScalarFunctions(type: GraphQLScalarType, functions: Partial<ScalarFunctions>): void {
  Object.assign(type, functions);
  if (!IS_17) return;
  const scalar = type as ScalarOf17;
  scalar.coerceOutputValue = type.serialize;
  scalar.coerceInputValue = type.parseValue;
  if (functions.parseLiteral) scalar.coerceInputLiteral = undefined;
}

/** The functions of a scalar of any copy of graphql-js. */
export function scalarFunctionsOf(scalar: GraphQLScalarType): ScalarFunctions {
  const { serialize, parseValue, parseLiteral } = scalar;
  const { coerceOutputValue, coerceInputValue, coerceInputLiteral } = scalar as ScalarOf17;
  return {
    serialize: coerceOutputValue ?? serialize,
    parseValue: coerceInputValue ?? parseValue,
    parseLiteral: coerceInputLiteral
      ? (node, variables) =>
          hasVariable(node) ? parseLiteral.call(scalar, node, variables) : coerceInputLiteral.call(scalar, node)
      : parseLiteral,
  };
}

function hasVariable(node: ValueNode): node is Exclude<ValueNode, ConstValueNode> {
  if (node.kind === graphql.Kind.LIST) return node.values.some(hasVariable);
  if (node.kind === graphql.Kind.OBJECT) return node.fields.some(({ value }) => hasVariable(value));
  return node.kind === graphql.Kind.VARIABLE;
}
