import { GraphQLError, execute as interpret } from 'graphql';
import type { ExecutionResult, GraphQLSchema, VariableDefinitionNode } from 'graphql';
import { beginRepeat } from '../context/context.ts';
import { errorOf } from '../../base/errors.ts';
import type { Operation } from '../documents/operation.ts';
import { coerceVariables } from '../graphql-version.ts';
import { OperationPlan } from './operation-plan.ts';
import type { SplitOperation } from './operation-plan.ts';
import { Planner } from './planner.ts';
import type { PlannerOptions } from './planner.ts';
import { MAX_COERCION_ERRORS, badUserInput, subscriptionArguments } from './subscription-arguments.ts';

export interface ExecutionInput {
  /** Of a subscription: the event's payload. */
  readonly rootValue: unknown;
  readonly context: unknown;
  /** As the client sent them. The same object for each event of a subscription, so that they are coerced and checked once. */
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

const NO_VARIABLES: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * Executes operations: by graphql-js at first, compiled by graphql-jit once they have proved to be in use. Both give the same result.
 * Where compiled code would give another one, graphql-js executes: what `compileObstacle` names is never compiled; an execution whose
 * null took an ancestor with it, that met a value of another shape than its type, or that threw is repeated by graphql-js, with the
 * outcomes of its backend requests (resolvers of queries and subscriptions only read).
 *
 * What compiling brings beside templates, measured with Node 20.20 on 2026-11-22, per execution by graphql-js and compiled: one slot
 * 2.9 and 0.4 µs; a slot of 20 objects 30 and 3.1 µs; a whole operation of 61 fields 27 and 0.8 µs. Operations without slots are not
 * executed at all.
 */
export class Executor {
  readonly #schema: GraphQLSchema;
  readonly #planner: Planner;
  readonly #plans = new WeakMap<Operation, OperationPlan>();

  constructor(schema: GraphQLSchema, options: PlannerOptions) {
    this.#schema = schema;
    this.#planner = new Planner(schema, options);
  }

  /** The plan of an operation, made at the first call. */
  planOf(operation: Operation): OperationPlan {
    let plan = this.#plans.get(operation);
    if (!plan) this.#plans.set(operation, (plan = new OperationPlan(operation)));
    return plan;
  }

  /** Compiles the operation, if it is compiled with its first use. Its first use is a request, not the first execution. */
  prepare(operation: Operation): void {
    this.#planner.prepare(this.planOf(operation));
  }

  /** True if `prepare` has nothing to compile. */
  isPrepared(operation: Operation): boolean {
    return this.#planner.isPrepared(this.planOf(operation));
  }

  /** One execution: of a query, or of a subscription for one event. Never throws or rejects; errors are not masked yet. */
  execute(plan: OperationPlan, input: ExecutionInput): ExecutionResult | Promise<ExecutionResult> {
    const { variables = NO_VARIABLES } = input;
    const compiled = plan.compiled === undefined ? this.#planner.compiled(plan) : plan.compiled;
    if (!compiled || !this.#isAccepted(plan, variables)) return this.#interpret(plan, input);
    let result: ExecutionResult | Promise<ExecutionResult>;
    try {
      result = compiled(input.rootValue, input.context, variables);
    } catch {
      return this.#repeat(plan, input);
    }
    if (result instanceof Promise) return this.#settle(result, plan, input);
    return isFinal(result) ? result : this.#repeat(plan, input);
  }

  /** A subscription's operation, split. undefined: not split yet, or it has no template; the whole operation must be executed. */
  split(plan: OperationPlan): SplitOperation | undefined {
    return this.#planner.split(plan);
  }

  /** The root field of a subscription and its arguments, or coercion errors with code BAD_USER_INPUT. */
  subscriptionArguments(
    operation: Operation,
    variables: Readonly<Record<string, unknown>> = NO_VARIABLES,
  ): ReturnType<typeof subscriptionArguments> {
    const selected = subscriptionArguments(this.#schema, operation, variables);
    const definitions = operation.definition.variableDefinitions ?? [];
    if (!('errors' in selected) && !hasNullForDefault(definitions, variables)) {
      this.planOf(operation).accepted.add(variables);
    }
    return selected;
  }

  /** graphql-jit coerces variables, too: with messages of its own, less strictly, and it takes a null in @skip and @include for false. */
  #isAccepted({ operation, accepted }: OperationPlan, variables: Readonly<Record<string, unknown>>): boolean {
    const definitions = operation.definition.variableDefinitions;
    if (!definitions?.length || accepted.has(variables)) return true;
    if (hasNullForDefault(definitions, variables)) return false;
    if ('errors' in coerceVariables(this.#schema, definitions, variables, { maxErrors: 1 })) return false;
    accepted.add(variables);
    return true;
  }

  #interpret(plan: OperationPlan, input: ExecutionInput): ExecutionResult | Promise<ExecutionResult> {
    const { document, name } = plan.operation;
    plan.uses++;
    try {
      const result = interpret({
        schema: this.#schema,
        document,
        operationName: name,
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
    plan: OperationPlan,
    input: ExecutionInput,
  ): Promise<ExecutionResult> {
    try {
      const result = await promise;
      if (isFinal(result)) return result;
    } catch {
      // As for a throw: graphql-js says what happened.
    }
    return this.#repeat(plan, input);
  }

  /** Executes by graphql-js, after compiled code. */
  #repeat(plan: OperationPlan, input: ExecutionInput): ExecutionResult | Promise<ExecutionResult> {
    beginRepeat(input.context);
    return this.#interpret(plan, input);
  }
}

/** Messages that only compiled code has: an unresolved type, a value that is not a list, a variable that does not fit an argument. */
const COMPILED_MESSAGE = /^(Runtime Object type|Abstract type|Expected Iterable, but|Argument) /;

function isFinal({ data, errors }: ExecutionResult): boolean {
  if (!errors || errors.length === 0) return data !== undefined;
  return errors.every((error) => {
    if (!error.originalError && COMPILED_MESSAGE.test(error.message)) return false;
    return error.path !== undefined && !isNullAbove(data, error.path);
  });
}

/** True if the null of an error at `path` made an ancestor null. */
function isNullAbove(data: unknown, path: readonly (string | number)[]): boolean {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return true;
    value = (value as Record<string | number, unknown>)[key];
  }
  return false;
}

/** A nullable variable with a default may be used where null is not allowed: only the execution finds that its value is null. */
function hasNullForDefault(
  definitions: readonly VariableDefinitionNode[],
  variables: Readonly<Record<string, unknown>>,
): boolean {
  return definitions.some(({ variable, defaultValue }) => defaultValue && variables[variable.name.value] === null);
}

function failed(error: unknown): ExecutionResult {
  return { errors: [new GraphQLError('Internal server error', { originalError: errorOf(error) })] };
}
