import { GraphQLError } from 'graphql';

/**
 * A mistake in the configuration, the graph or a binding. Its message names the mistake and the fix; main prints it without a stack and
 * exits with 1.
 */
export class SetupError extends Error {
  readonly code: string = 'ERR_SETUP';
  override readonly name: string = 'SetupError';
}

/** Wrong arguments of the command line. main prints the message without a stack and exits with 2. */
export class UsageError extends SetupError {
  override readonly code = 'ERR_USAGE';
  override readonly name = 'UsageError';
}

/** An environment variable that cannot be used. The message names the variable, the value and the expectation. */
export class ConfigError extends SetupError {
  override readonly code = 'ERR_CONFIG';
  override readonly name = 'ConfigError';
}

/** A graph folder or a binding that cannot work. The message names the file or field, the line, the reason and the fix. */
export class GraphError extends SetupError {
  override readonly code = 'ERR_GRAPH';
  override readonly name = 'GraphError';
}

/** Redis did not accept a publish or a subscribe. Some messages may have been delivered; the caller retries the whole call. */
export class BusUnavailableError extends Error {
  readonly code = 'ERR_BUS_UNAVAILABLE';
  override readonly name = 'BusUnavailableError';
  /** A metric label from a small fixed set: src/bus/publish-failure.ts. */
  readonly reason: string;

  constructor(message: string, options: ErrorOptions & { readonly reason?: string } = {}) {
    super(message, options);
    this.reason = options.reason ?? 'other';
  }
}

/** Another worker has leased the partition, or the bus has lost its data. A worker that is still assigned the partition leases it again. */
export class FencedError extends Error {
  readonly code = 'ERR_FENCED';
  override readonly name = 'FencedError';
}

/** The states of a partition's channels are lost, or were never kept: the partition must be read from its beginning. */
export class StateLostError extends Error {
  readonly code = 'ERR_STATE_LOST';
  override readonly name = 'StateLostError';
}

/** Converts a thrown value to an Error. Never throws: it replaces a value that throws when it is read (a Proxy, a getter). */
export function errorOf(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    // GraphQLError and the log read these properties.
    void [thrown.name, thrown.message, thrown.stack, (thrown as { extensions?: unknown }).extensions];
    return thrown;
  } catch {
    return new Error('a value was thrown that cannot be read');
  }
}

/** True for a GraphQLError of any copy of graphql-js. `instanceof` knows only those of crier's own copy. */
export function isGraphQLError(thrown: unknown): thrown is GraphQLError {
  if (thrown instanceof GraphQLError) return true;
  return (
    thrown instanceof Error && (thrown as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'GraphQLError'
  );
}

/** The pod has more work than it can do. The same request may succeed later. */
export class OverloadedError extends Error {
  readonly code = 'ERR_OVERLOADED';
  override readonly name = 'OverloadedError';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super(`overloaded; retry after ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A graph's code for an operation has not settled in time. */
export class ExecutionTimeoutError extends Error {
  readonly code = 'ERR_EXECUTION_TIMEOUT';
  override readonly name = 'ExecutionTimeoutError';

  constructor(what = 'the execution of an event', who = 'a resolver or a loader') {
    super(`${what} has not settled in EXECUTION_TIMEOUT_MS: ${who} waits for something`);
  }
}

/** The start ended because a signal asked for it. */
export class StoppedError extends Error {}

/** Values of `extensions.code` in crier's own GraphQL errors. */
export type ErrorCode =
  | 'BAD_USER_INPUT'
  | 'FORBIDDEN'
  | 'UNAUTHENTICATED'
  | 'KEYS_UNAVAILABLE'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_SUPPORTED'
  | 'PERSISTED_QUERY_MISMATCH'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'OPERATION_LIMIT'
  | 'SCHEMA_CHANGED'
  | 'TOO_MANY_REQUESTS'
  | 'OPERATION_NOT_ALLOWED'
  | 'OVERLOADED'
  | 'STREAM_CLOSED'
  | 'CALLBACK_FAILED'
  | 'BUS_UNAVAILABLE'
  | 'EXECUTION_TIMEOUT'
  | 'KAFKA_UNAVAILABLE'
  | 'KAFKA_UNCONFIRMED'
  | 'KAFKA_REFUSED'
  | 'BACKEND_NOT_CONFIGURED'
  | 'BACKEND_TIMEOUT'
  | 'BACKEND_UNAVAILABLE'
  | 'BACKEND_ERROR'
  | 'INTERNAL_SERVER_ERROR';

/** A GraphQL error that clients receive unmasked. */
export function clientError(code: ErrorCode, message: string, extensions: Record<string, unknown> = {}): GraphQLError {
  return new GraphQLError(message, { extensions: { ...extensions, code } });
}
