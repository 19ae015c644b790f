import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { ConnectionFacts } from './context/connection-facts.ts';
import type { OverloadedError } from '../base/errors.ts';
import type { Payer } from './documents/document-queue.ts';
import type { DocumentRequest } from './documents/document-request.ts';
import type { Operation } from './documents/operation.ts';
import type { EventRules, StartedEvent } from './execution/event-executor.ts';
import type { EventSource } from './event-source.ts';
import type { ErrorOrigin, OperationRunner, Variables } from './operation-runner.ts';
import type { Payload } from './payload.ts';
import type { FormattedError, Refusal } from './refusal.ts';

/**
 * The graph that the pod serves, and those that it has served: an operation is run by the graph that it was prepared for. New operations are
 * prepared for the latest one. A former graph is kept for as long as something refers to its schema.
 */
export class ServedGraphs implements OperationRunner {
  #current: OperationRunner;
  readonly #former = new WeakMap<GraphQLSchema, OperationRunner>();

  constructor(first: OperationRunner) {
    this.#current = first;
  }

  /** From now on new operations are prepared for this graph. */
  replace(next: OperationRunner): void {
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

  execute(...[operation, ...others]: Parameters<OperationRunner['execute']>): Promise<ExecutionResult> {
    return this.#of(operation).execute(operation, ...others);
  }

  startEvent(payload: Payload, operation?: Operation): StartedEvent {
    return (operation ? this.#of(operation) : this.#current).startEvent(payload, operation);
  }

  rulesOf(operation: Operation): EventRules {
    return this.#of(operation).rulesOf(operation);
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

  #of({ schema }: Operation): OperationRunner {
    if (schema === undefined || schema === this.#current.schema) return this.#current;
    return this.#former.get(schema) ?? this.#current;
  }
}
