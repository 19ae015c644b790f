import { GraphQLError, OperationTypeNode, isNonNullType } from 'graphql';
import type { ExecutionResult, FormattedExecutionResult, GraphQLSchema } from 'graphql';
import type { ConnectionFacts } from './context/connection-facts.ts';
import { abandon, settleRequests } from './context/context.ts';
import { OperationPubSub } from './context/pubsub/operation-pubsub.ts';
import { NeutralScope } from './context/neutral-scope.ts';
import { clientError, errorOf, isGraphQLError } from '../base/errors.ts';
import type { OverloadedError } from '../base/errors.ts';
import { freezeDeep } from '../base/json/frozen.ts';
import type { Logger } from '../base/log.ts';
import { missingClaim, refusalOf } from './authorize.ts';
import { operationOf } from './documents/cached-document.ts';
import type { CachedDocument, InvalidDocument } from './documents/cached-document.ts';
import type { Payer } from './documents/document-queue.ts';
import type { DocumentRequest } from './documents/document-request.ts';
import { maskError, maskErrors } from './execution/error-mask.ts';
import type { OnInternalError } from './execution/error-mask.ts';
import { EventExecution } from './execution/event-execution.ts';
import type { EventPorts } from './execution/event-execution.ts';
import type { EventRules } from './execution/event-executor.ts';
import { Executions } from './execution/executions.ts';
import type { ExecutionInput, Executor } from './execution/executor.ts';
import { Timing } from './execution/timing.ts';
import type { OperationPlan } from './execution/operation-plan.ts';
import { fieldCoordinate } from './schema/field-coordinate.ts';
import { Contexts } from './contexts.ts';
import type { ContextsOptions } from './contexts.ts';
import { channelSource } from './channel-source.ts';
import type { SelectedOperation } from './channel-source.ts';
import type { EventSource } from './event-source.ts';
import type { Graph } from './graph-parts.ts';
import { FilterReaders } from './filter/filter-readers.ts';
import { MaskedErrors } from './execution/masked-errors.ts';
import { UnfitValues } from './execution/unfit-values.ts';
import type { Operation } from './documents/operation.ts';
import type { ErrorOrigin, OperationRunner, Variables } from './operation-runner.ts';
import type { Payload } from './payload.ts';
import { FormattedError, refused } from './refusal.ts';
import { schemaChanged } from './schema-changed.ts';
import type { Refusal } from './refusal.ts';
import { refuseChannels, refuseVariables } from './request-limits.ts';
import { rootFieldNames } from './execution/root-fields.ts';
import { resolverPaths } from './execution/resolver-paths.ts';
import type { RequestedDocuments } from './documents/requested-documents.ts';
import type { Binding } from './schema/binding.ts';
import type { RedisBinding } from './schema/redis-binding.ts';
import { responseKeyOf, subscribeInfo } from './execution/subscribe-info.ts';

const CALLER_LEFT = new Error('the caller has left');

/** Values of one result that are reported. */
const MAX_UNFIT_VALUES = 10;

export interface GraphRuntimeOptions extends ContextsOptions {
  readonly documents: RequestedDocuments;
  readonly executor: Executor;
  /** Default: they are only counted. */
  readonly executions?: Executions;
  /** Counts the graphs that the pod has served: results are shared within one of them. Default: 0, the first. */
  readonly generation?: number;
  /** False: no subscription has a sharing key, as if each binding had `shared: false`. Default: true. */
  readonly hasSharing?: boolean;
  readonly log: Logger;
  readonly onInternalError: () => void;
}

/** Runs one graph. */
export class GraphRuntime implements OperationRunner {
  readonly #options: GraphRuntimeOptions;
  readonly #executions: Executions;
  readonly #maskedErrors: MaskedErrors;
  readonly #unfitValues: UnfitValues;
  readonly #eventPorts: EventPorts;
  readonly #scope = new NeutralScope();
  readonly #contexts: Contexts;
  readonly #filterReaders = new FilterReaders();
  /** Operations of former graphs, as operations of this one. */
  readonly #adopted = new WeakMap<Operation, Operation | Refusal>();
  readonly #rules = new WeakMap<Operation, EventRules>();

  constructor(options: GraphRuntimeOptions) {
    this.#options = options;
    this.#executions = options.executions ?? new Executions();
    this.#contexts = new Contexts(options);
    this.#eventPorts = {
      executor: options.executor,
      scope: this.#scope,
      contextOf: (facts, trace, event) => this.#contexts.of(facts, trace, event),
      recordOf: ({ channel = '', coordinates }) => coordinates && this.#contexts.recordOf(channel, coordinates),
      run: (plan, input) => this.#run(plan, input),
      textOf: (result) => this.#json(result),
      failed: (error) => this.#failed(error),
    };
    this.#unfitValues = new UnfitValues(options.graph.schema, options.log);
    this.#maskedErrors = new MaskedErrors({ log: options.log, onMasked: options.onInternalError });
  }

  get schema(): GraphQLSchema {
    return this.#options.graph.schema;
  }

  prepare(request: DocumentRequest, operationName: string | null | undefined, payer?: Payer): Operation | Refusal {
    const { documents, executor } = this.#options;
    const operation = operationIn(documents.get(request), operationName, payer);
    if ('errors' in operation) return operation;
    executor.prepare(operation);
    this.#executions.note(operation);
    return operation;
  }

  findPrepared(request: DocumentRequest, operationName: string | null | undefined): Operation | Refusal | undefined {
    const { documents, executor } = this.#options;
    const document = documents.find(request);
    const operation = document && operationIn(document, operationName);
    if (!operation || 'errors' in operation) return operation;
    if (!executor.isPrepared(operation)) return undefined;
    this.#executions.note(operation);
    return operation;
  }

  adopt(operation: Operation): Operation | Refusal {
    if (operation.schema === this.schema) return operation;
    const { documents, executor } = this.#options;
    let adopted = this.#adopted.get(operation);
    if (adopted) return adopted;
    const reread = documents.adopt(operation);
    if ('errors' in reread) adopted = schemaChanged(reread.errors);
    else {
      adopted = reread;
      executor.prepare(reread);
      this.#executions.note(reread);
    }
    this.#adopted.set(operation, adopted);
    return adopted;
  }

  refusedFor({ retryAfterMs }: OverloadedError): Refusal {
    return refused([clientError('OVERLOADED', 'The server is overloaded; try again later', { retryAfterMs }).toJSON()]);
  }

  async execute(
    operation: Operation,
    variables: Variables,
    facts: ConnectionFacts,
    onBegin?: (leave: () => void) => void,
  ): Promise<ExecutionResult> {
    const { executor, limits } = this.#options;
    const excess = variables && limits && refuseVariables(variables, limits);
    if (excess) return excess;
    const timing = new Timing(operation, performance.now(), 1);
    const { context, states } = this.#contexts.ofRequest(operation, facts);
    const mutations = operation.type === OperationTypeNode.MUTATION ? 1 : 0;
    if (mutations === 0) onBegin?.(() => abandon(context, CALLER_LEFT));
    this.#executions.inFlight++;
    this.#executions.mutationsInFlight += mutations;
    try {
      const input = { rootValue: undefined, context, variables };
      const plan = executor.planOf(operation);
      const { errors, ...result } = await this.#scope.run(this.#run, this, plan, input);
      const extensions = states?.isComplete === false && { extensions: { stateComplete: false } };
      return { ...result, ...(errors && { errors: errors.map((error) => new FormattedError(error)) }), ...extensions };
    } finally {
      this.#executions.inFlight--;
      this.#executions.mutationsInFlight -= mutations;
      this.#executions.settle(timing, settleRequests(context));
    }
  }

  startEvent(payload: Payload, operation?: Operation): EventExecution {
    return new EventExecution(this.#eventPorts, payload, operation);
  }

  rulesOf(operation: Operation): EventRules {
    let rules = this.#rules.get(operation);
    if (!rules) {
      const [field = ''] = rootFieldNames(operation);
      this.#rules.set(operation, (rules = eventRulesOf(this.#options.graph, field)));
    }
    return rules;
  }

  subscribe(operation: Operation, variables: Variables, facts: ConnectionFacts): Promise<EventSource | Refusal> {
    return this.#scope.run(this.#subscribe, this, operation, variables, facts);
  }

  async #subscribe(operation: Operation, variables: Variables, facts: ConnectionFacts): Promise<EventSource | Refusal> {
    const { executor, graph, limits } = this.#options;
    const excess = variables && limits && refuseVariables(variables, limits);
    if (excess) return excess;
    // A custom scalar may pass the sent object to resolvers. A write to it would change results without changing the sharing key.
    if (variables) freezeDeep(variables);
    const selected = executor.subscriptionArguments(operation, variables);
    if ('errors' in selected) return refused(selected.errors);
    const { field, args } = selected;
    const binding = graph.bindings.get(field.name) ?? graph.redisBindings.get(field.name);
    // Before the graph's code, which may write to the arguments.
    const source = binding && this.#channelSource(binding, { ...selected, operation, sent: variables }, facts);
    if (source && 'errors' in source) return source;
    const tooLong = limits && source && 'channels' in source ? refuseChannels(source.channels, limits) : undefined;
    if (tooLong) return tooLong;
    // The graph's code must not move a subscription to another channel.
    if (binding) Object.freeze(args);
    const { triggers } = this.#options;
    const pubsub = !binding && triggers ? new OperationPubSub(triggers) : undefined;
    const context = this.#contexts.of(facts, undefined, undefined, pubsub);
    // A source may send requests for as long as its subscription lives.
    settleRequests(context);
    const failure = (error: unknown): Refusal => {
      const coordinate = `${graph.schema.getSubscriptionType()!.name}.${field.name}`;
      return { errors: [this.masked(error, { field: coordinate, path: [responseKeyOf(operation)] })] };
    };
    const refusal = await refusalOf(graph, field, args, context);
    if (refusal) {
      // `authorize` has the context of `subscribe`.
      pubsub?.close();
      return failure(refusal);
    }
    if (source) return source;
    if (binding && 'where' in binding) return failure(missingClaim(binding));
    try {
      // A field without a binding has a source of its own: loadGraph refuses any other.
      const events: unknown = await field.subscribe!(
        undefined,
        args,
        context,
        subscribeInfo(graph.schema, operation, selected, context),
      );
      if (isAsyncIterable(events))
        return { field: field.name, events, pubsub, abandon: (reason) => abandon(context, reason) };
      pubsub?.close();
      return failure(notASource(events));
    } catch (error) {
      pubsub?.close();
      return failure(error);
    }
  }

  resolverPaths(operation: Operation): readonly string[] {
    return resolverPaths(this.schema, operation);
  }

  masked(error: unknown, { field, path }: ErrorOrigin = {}): FormattedError {
    const originalError = errorOf(error);
    const graphqlError = isGraphQLError(originalError) ? originalError : new GraphQLError('', { originalError });
    const report: OnInternalError = (masked, where) => this.#maskedErrors.report(masked, field, where);
    return new FormattedError(maskError(graphqlError, report, path));
  }

  /** undefined: the connection lacks a claim that the binding demands. */
  #channelSource(binding: Binding | RedisBinding, selected: SelectedOperation, facts: ConnectionFacts) {
    const { channelPrefix, generation = 0, hasSharing = true, limits } = this.#options;
    return channelSource(binding, selected, facts, {
      channelPrefix,
      generation,
      hasSharing,
      maxChannels: limits?.maxChannels,
      filterReaders: this.#filterReaders,
    });
  }

  #run(plan: OperationPlan, input: ExecutionInput): FormattedExecutionResult | Promise<FormattedExecutionResult> {
    const result = this.#options.executor.execute(plan, input);
    return result instanceof Promise
      ? result.then((settled) => this.#maskedResult(settled, plan))
      : this.#maskedResult(result, plan);
  }

  #maskedResult(result: ExecutionResult, { operation }: OperationPlan): FormattedExecutionResult {
    if (!result.errors) return result as FormattedExecutionResult;
    operation.tally.errors++;
    const fieldAt = (path: GraphQLError['path']) => path && fieldCoordinate(this.schema, operation, path);
    let unfit = 0;
    return maskErrors(
      result,
      (error, path) => this.#maskedErrors.report(error, fieldAt(path), path),
      // A list may have thousands, of the same fields.
      (message, path) => unfit++ < MAX_UNFIT_VALUES && this.#unfitValues.report(message, fieldAt(path)),
    );
  }

  #json(result: FormattedExecutionResult): string {
    try {
      return JSON.stringify(result);
    } catch (error) {
      // A scalar's `serialize` may return what JSON does not have, such as a BigInt in an object.
      return JSON.stringify(this.#failed(error));
    }
  }

  #failed(error: unknown): FormattedExecutionResult {
    return { errors: [this.masked(error).toJSON()] };
  }
}

function eventRulesOf({ schema, bindings }: Graph, name: string): EventRules {
  const field = schema.getSubscriptionType()?.getFields()[name];
  const binding = bindings.get(name);
  return {
    // Only Kafka has tombstones: from any other source, null is a payload like any other.
    onDelete: binding ? binding.tombstone : 'NULL',
    hasEnvelope: binding?.envelope !== undefined,
    skipsSnapshots: binding?.skipsSnapshots === true,
    isNullable: field !== undefined && !isNonNullType(field.type),
  };
}

function operationIn(
  document: CachedDocument | InvalidDocument,
  operationName: string | null | undefined,
  payer?: Payer,
): Operation | Refusal {
  const operation = 'errors' in document ? document : operationOf(document, operationName, payer);
  return 'errors' in operation ? refused(operation.errors) : operation;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator] === 'function';
}

/** An Error that `subscribe` returns is treated as thrown, as in graphql-js. */
function notASource(returned: unknown): unknown {
  return returned instanceof Error ? returned : new TypeError('subscribe must return an async iterable');
}
