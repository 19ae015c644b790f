import { errors } from 'undici';
import { BackendFailure, unavailable } from './backend-failure.ts';

/** Errors of undici's pool for requests that were not sent because it is closed. */
const CLOSED_CODES: ReadonlySet<string | undefined> = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** @param hasResponse true if the response had begun */
export function failureOf(error: unknown, hasResponse: boolean): Error {
  if (error instanceof BackendFailure) return error;
  if (error instanceof errors.InvalidArgumentError) return new TypeError(`backend request: ${error.message}`);
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    return new BackendFailure('BACKEND_ERROR', 'answered with too much data', 'the answer is too large');
  }
  const { code, name } = error as NodeJS.ErrnoException;
  const isClosed = CLOSED_CODES.has(code);
  return unavailable(code ?? name, { isRetryable: !hasResponse && !isClosed, isOutage: !isClosed });
}
