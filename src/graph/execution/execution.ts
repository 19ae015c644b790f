import { GraphQLError, Kind, execute as interpret, getArgumentValues, getVariableValues } from 'graphql';
import type {
  DocumentNode,
  ExecutionResult,
  FieldNode,
  GraphQLField,
  GraphQLFormattedError,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
  VariableDefinitionNode,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { CompiledQuery } from 'graphql-jit';
import { clientError, errorOf } from '../../errors.ts';
import { RenderContext } from '../projection/render-context.ts';
import type { Payer } from '../documents/document-queue.ts';
import { compileObstacle, schemaObstacle } from './jit-gate.ts';
import { copyDefaults } from './isolation.ts';
import { Operation } from '../documents/operation.ts';
import type { SplitOperation } from '../documents/operation.ts';
import { templateOf } from '../projection/template.ts';

export interface ExecutionInput {
  /** Of a subscription: the event's payload. */
  readonly rootValue: unknown;
  readonly context: unknown;
  /** As the client sent them. The same object for each event of an operation, so that they are checked once. */
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

export interface ExecutorOptions {
  /** Executions by graphql-js before an operation is compiled; 0: it never is. */
  readonly jitAfterUses: number;
  /** Does the work some time later and charges it; false: it does not, ask again. Default: at once. */
  readonly compileLater?: (compile: () => void, payer: Payer | undefined) => boolean;
  readonly onCompile?: (outcome: 'compiled' | 'refused' | 'failed', reason?: string) => void;
}

export interface SubscriptionArguments {
  readonly field: GraphQLField<unknown, unknown>;
  /** Coerced, as the field's resolver would get them. */
  readonly args: Record<string, unknown>;
  /** All variables of the operation, coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
}

const NO_VARIABLES: Readonly<Record<string, unknown>> = Object.freeze({});
const MAX_COERCION_ERRORS = 10;

/**
 * Executes operations: on graphql-js at first, compiled by graphql-jit once they have proved to be in use. Both give one
 * result. Where compiled code would not, graphql-js has the last word: what `compileObstacle` names is never
 * compiled; an execution whose null went beyond the field that failed, that met a value of another shape than its type, or that threw is
 * repeated on graphql-js (resolvers of queries and subscriptions only read).
 */
export class Executor {
  readonly #schema: GraphQLSchema;
  readonly #options: ExecutorOptions;
  readonly #obstacle: string | undefined;
  readonly #renderContext = new RenderContext();

  constructor(schema: GraphQLSchema, options: ExecutorOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#obstacle = schemaObstacle(schema);
  }

  /** One execution: of a query, or of a subscription for one event. Never throws or rejects; errors are not masked yet. */
  execute(operation: Operation, input: ExecutionInput): ExecutionResult | Promise<ExecutionResult> {
    const { variables = NO_VARIABLES } = input;
    const compiled = operation.compiled === undefined ? this.#compiledOf(operation) : operation.compiled;
    if (!compiled || !this.#isAccepted(operation, variables)) return this.#interpret(operation, input);
    let result: ExecutionResult | Promise<ExecutionResult>;
    try {
      result = compiled(input.rootValue, input.context, variables);
    } catch {
      return this.#interpret(operation, input);
    }
    if (result instanceof Promise) return this.#settle(result, operation, input);
    return isFinal(result) ? result : this.#interpret(operation, input);
  }

  /** Splits a subscription's operation once it has been executed `jitAfterUses` times; undefined before, and where it has no template. */
  split(operation: Operation): SplitOperation | undefined {
    const { jitAfterUses } = this.#options;
    if (operation.split === undefined && jitAfterUses > 0 && operation.uses >= jitAfterUses && !operation.isSplitDue) {
      operation.isSplitDue = true;
      operation.isSplitDue = this.#compileLater(operation, () => (operation.split = this.#split(operation)));
    }
    return operation.split ?? undefined;
  }

  /** The root field of a subscription and its arguments, or coercion errors with code BAD_USER_INPUT. */
  subscriptionArguments(
    operation: Operation,
    variables: Readonly<Record<string, unknown>> = NO_VARIABLES,
  ): SubscriptionArguments | { readonly errors: readonly GraphQLFormattedError[] } {
    const definitions = operation.definition.variableDefinitions ?? [];
    const coerced = getVariableValues(this.#schema, definitions, variables, { maxErrors: MAX_COERCION_ERRORS });
    if (coerced.errors) return { errors: coerced.errors.map((error) => badUserInput(error).toJSON()) };
    if (!hasNullForDefault(definitions, variables)) operation.accepted.add(variables);
    const node = rootFieldOf(operation.document, operation.definition.selectionSet);
    const field = node && this.#schema.getSubscriptionType()?.getFields()[node.name.value];
    if (!field) throw new TypeError('not a validated subscription');
    try {
      const args = getArgumentValues(field, node, coerced.coerced);
      copyDefaults(field, args);
      return { field, args, variables: coerced.coerced };
    } catch (error) {
      const path = [(node.alias ?? node.name).value];
      if (error instanceof GraphQLError) return { errors: [{ ...badUserInput(error).toJSON(), path }] };
      throw error;
    }
  }

  #split(operation: Operation): SplitOperation | null {
    const template = templateOf(this.#schema, operation, this.#renderContext);
    if (!template) return null;
    const { render, slotDocument: document } = template;
    if (!document) return { render, slotOperation: undefined };
    const slotOperation = new Operation(
      { key: operation.key, document, bytes: operation.documentBytes },
      document.definitions[0] as OperationDefinitionNode,
    );
    slotOperation.uses = operation.uses;
    slotOperation.payer = operation.payer;
    return { render, slotOperation };
  }

  /** graphql-jit coerces variables too, with messages of its own and less strictly, and takes a null in @skip and @include for false. */
  #isAccepted(operation: Operation, variables: Readonly<Record<string, unknown>>): boolean {
    const definitions = operation.definition.variableDefinitions;
    if (!definitions?.length || operation.accepted.has(variables)) return true;
    if (hasNullForDefault(definitions, variables)) return false;
    if (getVariableValues(this.#schema, definitions, variables, { maxErrors: 1 }).errors) return false;
    operation.accepted.add(variables);
    return true;
  }

  #interpret(operation: Operation, input: ExecutionInput): ExecutionResult | Promise<ExecutionResult> {
    operation.uses++;
    try {
      const result = interpret({
        schema: this.#schema,
        document: operation.document,
        operationName: operation.name,
        rootValue: input.rootValue,
        contextValue: input.context,
        variableValues: input.variables,
        options: { maxCoercionErrors: MAX_COERCION_ERRORS },
      });
      if (result instanceof Promise) return result.catch(failed);
      // Nothing was executed: the variables do not fit.
      if (result.data === undefined && result.errors) return { errors: result.errors.map(badUserInput) };
      return result;
    } catch (error) {
      return failed(error);
    }
  }

  async #settle(
    promise: Promise<ExecutionResult>,
    operation: Operation,
    input: ExecutionInput,
  ): Promise<ExecutionResult> {
    try {
      const result = await promise;
      if (isFinal(result)) return result;
    } catch {
      // As for a throw: graphql-js says what happened.
    }
    return this.#interpret(operation, input);
  }

  /** undefined: not yet; null: never. */
  #compiledOf(operation: Operation): Operation['compiled'] {
    const { jitAfterUses } = this.#options;
    if (jitAfterUses === 0 || operation.uses < jitAfterUses || operation.isCompileDue) return undefined;
    operation.isCompileDue = true;
    operation.isCompileDue = this.#compileLater(operation, () => (operation.compiled = this.#compile(operation)));
    return operation.compiled;
  }

  #compileLater({ payer }: Operation, compile: () => void): boolean {
    const { compileLater, onCompile } = this.#options;
    const compileSafely = () => {
      try {
        compile();
      } catch (error) {
        onCompile?.('failed', errorOf(error).message);
      }
    };
    if (compileLater) return compileLater(compileSafely, payer);
    compileSafely();
    return true;
  }

  #compile(operation: Operation): CompiledQuery['query'] | null {
    const { onCompile } = this.#options;
    const { document, definition, name } = operation;
    const obstacle = this.#obstacle ?? compileObstacle(this.#schema, document, definition);
    if (obstacle !== undefined) {
      onCompile?.('refused', obstacle);
      return null;
    }
    const query = compileQuery(this.#schema, document, name, {
      disablingCapturingStackErrors: true,
      useExperimentalPathBasedSkipInclude: true,
      resolverInfoEnricher: ({ fragments }) => {
        Object.freeze(fragments);
        return { isCompiled: true };
      },
    });
    if (isCompiledQuery(query)) {
      onCompile?.('compiled');
      return query.query;
    }
    onCompile?.('failed', query.errors?.[0]?.message ?? 'unknown');
    return null;
  }
}

/** Where compiled code has words of its own: a type that could not be resolved, a list that is none, an argument's variable that does not fit. */
const COMPILED_MESSAGE = /^(Runtime Object type|Abstract type|Expected Iterable, but|Argument) /;

function isFinal({ data, errors }: ExecutionResult): boolean {
  if (!errors || errors.length === 0) return data !== undefined;
  return errors.every((error) => {
    if (!error.originalError && COMPILED_MESSAGE.test(error.message)) return false;
    return error.path !== undefined && !isNullAbove(data, error.path);
  });
}

/** Whether the null of an error at `path` took an ancestor with it. */
function isNullAbove(data: unknown, path: readonly (string | number)[]): boolean {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return true;
    value = (value as Record<string | number, unknown>)[key];
  }
  return false;
}

function rootFieldOf(document: DocumentNode, set: SelectionSetNode): FieldNode | undefined {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) return selection;
    const below =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : document.definitions.find(
            (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value,
          );
    const field = below && 'selectionSet' in below && below.selectionSet && rootFieldOf(document, below.selectionSet);
    if (field) return field;
  }
  return undefined;
}

/** A nullable variable with a default may stand where null must not: that its value is null only an execution meets. */
function hasNullForDefault(
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): boolean {
  return definitions.some(({ variable, defaultValue }) => defaultValue && variables[variable.name.value] === null);
}

function badUserInput({ message, extensions }: GraphQLError): GraphQLError {
  return clientError('BAD_USER_INPUT', message, extensions);
}

function failed(error: unknown): ExecutionResult {
  return { errors: [new GraphQLError('Internal server error', { originalError: errorOf(error) })] };
}
