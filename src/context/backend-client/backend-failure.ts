import { errors } from 'undici';
import type { ErrorCode } from '../../errors.ts';

export interface BackendFailureDetails {
  /** HTTP status; undefined without a response. */
  readonly status?: number;
  /** Time in ms after which the same request may succeed, as far as it is known. */
  readonly retryAfterMs?: number;
  /** True if the backend has not processed the request: no response came, or one that asks for a retry. */
  readonly isRetryable?: boolean;
  /** True if the failure counts for the circuit breaker. */
  readonly isOutage?: boolean;
  /** False if the request was refused before it was sent. */
  readonly isSent?: boolean;
}

/** A failed request. `message` follows "A backend" in what the client receives; `reason` is for the log. */
export class BackendFailure extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly details: BackendFailureDetails;

  constructor(code: ErrorCode, message: string, reason: string, details: BackendFailureDetails = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

export function unavailable(reason: string, details?: BackendFailureDetails): BackendFailure {
  return new BackendFailure('BACKEND_UNAVAILABLE', 'is not available', reason, details);
}

/** @param waitedMs more than the timeout if the event loop was blocked */
export function timedOut(waitedMs: number, details?: BackendFailureDetails): BackendFailure {
  const reason = `no answer within ${Math.round(waitedMs)} ms`;
  return new BackendFailure('BACKEND_TIMEOUT', 'did not answer in time', reason, details);
}

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
