import { GraphQLError, isValueNode } from 'graphql';
import type { ExecutionResult, FormattedExecutionResult, GraphQLFormattedError } from 'graphql';
import type { ErrorCode } from '../../errors.ts';

/** Takes what a client must not see, and returns the id that it sees instead. */
export type OnInternalError = (error: unknown, path: GraphQLError['path']) => string;

/** GraphQL's own types print the value, which may be an object with everything that the client did not, or may not, select. */
const LEAF_FAILURE = /^(Int|Float|String|Boolean|ID|Enum "\w+") cannot represent .*$/s;

/**
 * An execution's result as it may leave. A GraphQLError that a resolver made says what its author wanted it to say, and
 * passes with its code. Anything else is "Internal server error" with the id of `onInternal` in `extensions.id`. Results without errors are passed through as they are.
 */
export function maskErrors(result: ExecutionResult, onInternal: OnInternalError): FormattedExecutionResult {
  const { data, errors } = result;
  if (!errors) return result as FormattedExecutionResult;
  return { errors: errors.map((error) => maskError(error, onInternal)), ...(data !== undefined && { data }) };
}

/** `fallbackPath`: of an error that has no path of its own. */
export function maskError(
  error: GraphQLError,
  onInternal: OnInternalError,
  fallbackPath?: GraphQLError['path'],
): GraphQLFormattedError {
  const { path = fallbackPath, locations } = error;
  const where = { ...(locations?.length && { locations }), ...(path && { path }) };
  const original: unknown = error.originalError;
  if (isShown(error, original)) {
    const extensions = { code: codeOf(error), ...error.extensions };
    return {
      message: error.message.replace(LEAF_FAILURE, '$1 cannot represent the value of this field'),
      ...where,
      extensions,
    };
  }
  const id = onInternal(original, path);
  return { message: 'Internal server error', ...where, extensions: { code: 'INTERNAL_SERVER_ERROR', id } };
}

/** Only a variable can make a validated argument unfit: graphql-js then names the argument's value. */
function codeOf({ nodes }: GraphQLError): ErrorCode {
  const node = nodes?.[0];
  return node && isValueNode(node) ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR';
}

/** Thrown nothings (`throw undefined`) leave an empty message and no original behind. */
function isShown({ message }: GraphQLError, original: unknown): boolean {
  return original === undefined || original === null ? message !== '' : original instanceof GraphQLError;
}
