import { isValueNode } from 'graphql';
import type { ExecutionResult, GraphQLError, FormattedExecutionResult, GraphQLFormattedError } from 'graphql';
import { isGraphQLError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { unfitResult } from './unfit-result.ts';

/** Called with an error that clients must not see. Returns the id that they see instead. */
export type OnInternalError = (error: unknown, path: GraphQLError['path']) => string;

/** Called with the message of a value that its type cannot represent. The message has the value. */
export type OnUnfitValue = (message: string, path: GraphQLError['path']) => void;

/** GraphQL's own types print the value, which may be an object with fields that the client did not, or may not, select. */
const LEAF_FAILURE = /^(Int|Float|String|Boolean|ID|Enum "\w+") cannot represent .*$/s;

/** Also of custom scalars, whose message has no value (`makeExecutable`). */
const UNFIT = /^(\w+|Enum "\w+") cannot represent /;

/**
 * An execution's result as clients may see it. A GraphQLError of a resolver passes with its message and code. Any other error gets the id of
 * `onInternal` in `extensions.id`, and becomes "Internal server error", or the kind of an `UnfitResultError`. A result without errors is
 * returned unchanged.
 */
export function maskErrors(
  result: ExecutionResult,
  onInternal: OnInternalError,
  onUnfitValue: OnUnfitValue = () => undefined,
): FormattedExecutionResult {
  const { data, errors } = result;
  if (!errors) return result as FormattedExecutionResult;
  for (const error of errors) if (isUnfit(error)) onUnfitValue(error.message, error.path);
  return { errors: errors.map((error) => maskError(error, onInternal)), ...(data !== undefined && { data }) };
}

/** @param fallbackPath for an error without a path */
export function maskError(
  error: GraphQLError,
  onInternal: OnInternalError,
  fallbackPath?: GraphQLError['path'],
): GraphQLFormattedError {
  const original = originalOf(error);
  // graphql-js takes an Error of a resolver that has a `path` for one of its own.
  const { path = fallbackPath, locations } = original === error ? {} : error;
  const where = { ...(locations?.length && { locations }), ...(path && { path }) };
  if (isShown(error, original)) {
    const extensions = { code: codeOf(error), ...error.extensions };
    return {
      message: error.message.replace(LEAF_FAILURE, '$1 cannot represent the value of this field'),
      ...where,
      extensions,
    };
  }
  const unfit = unfitResult(original);
  const id = onInternal(unfit ?? original, path);
  const message = unfit?.kind ?? 'Internal server error';
  return { message, ...where, extensions: { code: 'INTERNAL_SERVER_ERROR', id } };
}

/**
 * Of a result; the value of an argument is the client's. The message of an error that is not shown may be anything: graphql-jit takes a thrown
 * value without a message for one.
 */
function isUnfit(error: GraphQLError): boolean {
  return isShown(error, originalOf(error)) && UNFIT.test(error.message) && codeOf(error) !== 'BAD_USER_INPUT';
}

function originalOf(error: GraphQLError): unknown {
  return isGraphQLError(error) ? error.originalError : error;
}

/** In a validated operation only a variable can make an argument invalid: graphql-js then names the argument's value node. */
function codeOf({ nodes }: GraphQLError): ErrorCode {
  const node = nodes?.[0];
  return node && isValueNode(node) ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR';
}

/** `throw undefined` gives an error with an empty message and without an original. */
function isShown({ message }: GraphQLError, original: unknown): boolean {
  return original === undefined || original === null ? message !== '' : isGraphQLError(original);
}
