import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { OverloadedError } from '../base/errors.ts';
import type { ConnectionFacts } from './context/connection-facts.ts';
import type { Payer } from './documents/document-queue.ts';
import type { DocumentRequest } from './documents/document-request.ts';
import type { Operation } from './documents/operation.ts';
import type { EventSource } from './event-source.ts';
import type { EventExecutor } from './execution/event-executor.ts';
import type { FormattedError, Refusal } from './refusal.ts';

export type Variables = Readonly<Record<string, unknown>> | undefined;

/** Where an error occurred, if the error does not say so itself. */
export interface ErrorOrigin {
  /** Schema coordinate of the field. */
  readonly field?: string;
  /** Response path. */
  readonly path?: readonly (string | number)[];
}

/**
 * Runs operations: one graph, or all that a pod still runs operations of. No method throws for what a client sent. Every error for a client
 * is masked; the log has the original error with the id that the client sees.
 */
export interface OperationRunner extends EventExecutor {
  readonly schema: GraphQLSchema;
  /**
   * The operation that a request names, parsed, validated and cached. Takes some ms if the document is not cached.
   * @param payer is charged for compiling the operation later, if it is new
   */
  prepare(request: DocumentRequest, operationName: string | null | undefined, payer?: Payer): Operation | Refusal;
  /** As `prepare`, for an operation of a cached document that is prepared already; undefined for any other. */
  findPrepared(request: DocumentRequest, operationName: string | null | undefined): Operation | Refusal | undefined;
  /**
   * The same operation, of this graph; a refusal with the code SCHEMA_CHANGED if its document is not valid any more. Takes some ms for each
   * operation of another graph, once.
   */
  adopt(operation: Operation): Operation | Refusal;
  /** The error for a request whose document cannot be prepared now. */
  refusedFor(error: OverloadedError): Refusal;
  /**
   * Executes a query or mutation. Never rejects.
   * @param onBegin receives what the caller of a query calls when it has left: aborts the execution's signal
   */
  execute(
    operation: Operation,
    variables: Variables,
    facts: ConnectionFacts,
    onBegin?: (leave: () => void) => void,
  ): Promise<ExecutionResult>;
  /** Authorises a subscription and returns the source of its events. */
  subscribe(operation: Operation, variables: Variables, facts: ConnectionFacts): Promise<EventSource | Refusal>;
  /** Response paths of an operation's fields that have a resolver: at most 16. */
  resolverPaths(operation: Operation): readonly string[];
  /** The error as a client may see it; the log has the original. */
  masked(error: unknown, origin?: ErrorOrigin): FormattedError;
}
