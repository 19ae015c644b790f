import type { Response } from 'graphql-http';
import { clientError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { AuthenticationFailure } from '../identity/authenticator.ts';
import type { RequestLimit } from './request-admission.ts';

/** After which a client should retry, in seconds. Tokens of a rate come back within a second; memory is looked at every ten. */
const RETRY_SECONDS = 1;
const MEMORY_RETRY_SECONDS = 10;

/** Sent before GraphQL is involved, so the status is the same for every `accept` header. Challenges: RFC 6750 section 3. */
const FORBIDDEN = reply(403, 'Forbidden', 'FORBIDDEN', 'Forbidden');
const FAILURES: Partial<Record<AuthenticationFailure, Response>> = {
  token_missing: reply(
    401,
    'Unauthorized',
    'UNAUTHENTICATED',
    'Token missing: send the header "authorization: Bearer <token>"',
    { 'www-authenticate': 'Bearer' },
  ),
  token_expired: invalidToken('Token expired'),
  token_invalid: invalidToken('Token invalid: the log of the server says why'),
  token_revoked: invalidToken('Revoked'),
  keys_unavailable: later(
    503,
    'Service Unavailable',
    'KEYS_UNAVAILABLE',
    'Tokens cannot be verified right now',
    RETRY_SECONDS,
  ),
};

const LIMITS: Readonly<Record<RequestLimit, Response>> = {
  request_memory: overloaded('The server is short of memory', MEMORY_RETRY_SECONDS),
  requests: overloaded('The server has as many requests in flight as it may have (MAX_REQUESTS_IN_FLIGHT)'),
  user_requests: tooMany('This user has too many requests in flight (a tenth of MAX_REQUESTS_IN_FLIGHT)'),
  user_request_rate: tooMany(
    'This user sends too many requests (a tenth of MAX_REQUESTS_IN_FLIGHT a second, at least 100)',
  ),
  address_requests: tooMany('This address has too many requests in flight (a tenth of MAX_REQUESTS_IN_FLIGHT)'),
  address_request_rate: tooMany('This address sends too many requests (MAX_REQUESTS_PER_SECOND_PER_ADDRESS)'),
};

/** The reply to a request that was not authenticated. What is wrong with its token is not told: the log has it. */
export function refusalReply(failure: AuthenticationFailure): Response {
  return FAILURES[failure] ?? FORBIDDEN;
}

/** The reply to a request that a limit refuses: 429 for a limit of its client, 503 for one of the pod. */
export function limitReply(limit: RequestLimit): Response {
  return LIMITS[limit];
}

function invalidToken(message: string): Response {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return reply(401, 'Unauthorized', 'UNAUTHENTICATED', message, { 'www-authenticate': challenge });
}

export function tooMany(message: string): Response {
  return later(429, 'Too Many Requests', 'TOO_MANY_REQUESTS', message, RETRY_SECONDS);
}

export function overloaded(message: string, seconds = RETRY_SECONDS): Response {
  return later(503, 'Service Unavailable', 'OVERLOADED', message, seconds);
}

function later(status: number, statusText: string, code: ErrorCode, message: string, seconds: number): Response {
  const extensions = { retryAfterMs: seconds * 1000 };
  return reply(status, statusText, code, message, { 'retry-after': String(seconds) }, extensions);
}

function reply(
  status: number,
  statusText: string,
  code: ErrorCode,
  message: string,
  more: Readonly<Record<string, string>> = {},
  extensions: Readonly<Record<string, unknown>> = {},
): Response {
  const headers = { 'content-type': 'application/json; charset=utf-8', ...more };
  return [JSON.stringify({ errors: [clientError(code, message, extensions)] }), { status, statusText, headers }];
}
