import type { Dispatcher } from 'undici';
import { parseExactly } from '../../../base/json/exact-numbers.ts';
import type { BackendReply } from '../execution-backends.ts';
import { BackendFailure } from './backend-failure.ts';

/** Bytes of an error response that are read so that its socket can be reused; a longer body closes the socket. */
const MAX_DUMPED_BYTES = 65_536;

/** Its text is empty also for a GET with status 404. */
export interface BackendResponse extends BackendReply {
  readonly status: number;
}

/** @throws BackendFailure for an error status and for a body that is not JSON; undici's errors for a body that breaks off */
export async function readResponse(method: string, response: Dispatcher.ResponseData): Promise<BackendResponse> {
  const status = response.statusCode;
  if (status > 299) {
    await response.body.dump({ limit: MAX_DUMPED_BYTES });
    if (status === 404 && method === 'GET') return { status, text: '', body: null };
    throw statusFailure(status, response.headers['retry-after']);
  }
  const text = await response.body.text();
  if (text === '') return { status, text, body: null };
  try {
    return { status, text, body: parseExactly(text) };
  } catch {
    throw new BackendFailure('BACKEND_ERROR', 'answered with something that is not JSON', 'not JSON', { status });
  }
}

function statusFailure(status: number, retryAfter: unknown): BackendFailure {
  const isOutage = status >= 500;
  const failure = (details: object) =>
    new BackendFailure('BACKEND_ERROR', 'answered with an error', `status ${status}`, {
      status,
      isOutage,
      ...details,
    });
  // A date instead of seconds is not read: it needs equal clocks.
  const seconds = typeof retryAfter === 'string' && /^\d{1,4}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  if (seconds === undefined || (status !== 503 && status !== 429)) return failure({});
  return failure({ isRetryable: true, retryAfterMs: seconds * 1000 });
}
