import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { ConnectionFacts } from './context/connection-facts.ts';
import type { OverloadedError } from '../base/errors.ts';
import type { Payer } from './documents/document-queue.ts';
import type { DocumentRequest } from './documents/document-request.ts';
import type { Operation } from './documents/operation.ts';
import type { EventExecution } from './execution/event-execution.ts';
import type { EventSource } from './event-source.ts';
import type { Payload } from './payload.ts';
import type { FormattedError, Refusal } from './refusal.ts';
import type { ErrorOrigin, GraphRuntime } from './runtime.ts';
import type { TombstoneAction } from './schema/tombstone-binding.ts';

type Variables = Readonly<Record<string, unknown>> | undefined;

/** What runs operations: one graph, or all that a pod still runs operations of. */
export type OperationRunner = Pick<GraphRuntime, keyof GraphRuntime>;

/**
 * The graph that the pod serves, and those that it has served: an operation is run by the graph that it was prepared for. New operations are
 * prepared for the latest one. A former graph is kept for as long as something refers to its schema.
 */
export class ServedGraphs implements OperationRunner {
  #current: GraphRuntime;
  readonly #former = new WeakMap<GraphQLSchema, GraphRuntime>();

  constructor(first: GraphRuntime) {
    this.#current = first;
  }

  /** From now on new operations are prepared for this graph. */
  replace(next: GraphRuntime): void {
    this.#former.set(this.#current.schema, this.#current);
    this.#current = next;
  }

  get schema(): GraphQLSchema {
    return this.#current.schema;
  }

  prepare(request: DocumentRequest, operationName: string | null | undefined, payer?: Payer): Operation | Refusal {
    return this.#current.prepare(request, operationName, payer);
  }

  findPrepared(request: DocumentRequest, operationName: string | null | undefined): Operation | Refusal | undefined {
    return this.#current.findPrepared(request, operationName);
  }

  adopt(operation: Operation): Operation | Refusal {
    return this.#current.adopt(operation);
  }

  refusedFor(error: OverloadedError): Refusal {
    return this.#current.refusedFor(error);
  }

  execute(operation: Operation, variables: Variables, facts: ConnectionFacts): Promise<ExecutionResult> {
    return this.#of(operation).execute(operation, variables, facts);
  }

  startEvent(payload: Payload, operation?: Operation): EventExecution {
    return (operation ? this.#of(operation) : this.#current).startEvent(payload, operation);
  }

  tombstoneActionOf(operation: Operation): TombstoneAction | undefined {
    return this.#of(operation).tombstoneActionOf(operation);
  }

  subscribe(operation: Operation, variables: Variables, facts: ConnectionFacts): Promise<EventSource | Refusal> {
    return this.#of(operation).subscribe(operation, variables, facts);
  }

  resolverPaths(operation: Operation): readonly string[] {
    return this.#of(operation).resolverPaths(operation);
  }

  masked(error: unknown, origin?: ErrorOrigin): FormattedError {
    return this.#current.masked(error, origin);
  }

  #of({ schema }: Operation): GraphRuntime {
    if (schema === undefined || schema === this.#current.schema) return this.#current;
    return this.#former.get(schema) ?? this.#current;
  }
}
