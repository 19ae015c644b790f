import type { ErrorCode } from '../../../base/errors.ts';

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

/** For nobody: the caller of the request has left. */
export function abandoned(): BackendFailure {
  return unavailable('nobody waits for its answer any more');
}

/** @param waitedMs more than the timeout if the event loop was blocked */
export function timedOut(waitedMs: number, details?: BackendFailureDetails): BackendFailure {
  const reason = `no answer within ${Math.round(waitedMs)} ms`;
  return new BackendFailure('BACKEND_TIMEOUT', 'did not answer in time', reason, details);
}
