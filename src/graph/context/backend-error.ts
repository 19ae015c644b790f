import { GraphQLError } from 'graphql';
import type { ErrorCode } from '../../base/errors.ts';

export interface BackendErrorOptions {
  readonly code: ErrorCode;
  /** HTTP status; undefined without a response. */
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * What a failed request to a backend throws in a resolver. The client receives its message and `extensions`, which say nothing about the
 * backend; `backend` and `status` are for the resolver.
 */
export class BackendError extends GraphQLError {
  readonly backend: string;
  readonly status: number | undefined;

  /** @param failure what the backend did, after "A backend" */
  constructor(backend: string, failure: string, { code, status, retryAfterMs }: BackendErrorOptions) {
    super(`A backend ${failure}`, { extensions: { ...(retryAfterMs !== undefined && { retryAfterMs }), code } });
    this.backend = backend;
    this.status = status;
  }
}
