import type { Response } from 'graphql-http';
import { clientError } from '../errors.ts';
import type { AuthenticationFailure } from '../identity/authenticator.ts';

/** Sent before GraphQL is involved, so the status is the same for every `accept` header. Challenges: RFC 6750 section 3. */
const FORBIDDEN = reply(403, 'Forbidden', clientError('FORBIDDEN', 'Forbidden'));
const REPLIES: Partial<Record<AuthenticationFailure, Response>> = {
  token_missing: reply(401, 'Unauthorized', clientError('UNAUTHENTICATED', 'Token missing'), 'Bearer'),
  token_expired: invalidToken('Token expired'),
  token_invalid: invalidToken('Token invalid'),
  token_revoked: invalidToken('Revoked'),
  keys_unavailable: reply(
    503,
    'Service Unavailable',
    clientError('KEYS_UNAVAILABLE', 'Tokens cannot be verified right now'),
  ),
};

/** The reply to a request that was not authenticated. What is wrong with its token is not told: the log has it. */
export function refusalReply(failure: AuthenticationFailure): Response {
  return REPLIES[failure] ?? FORBIDDEN;
}

function invalidToken(message: string): Response {
  const challenge = `Bearer error="invalid_token", error_description="${message}"`;
  return reply(401, 'Unauthorized', clientError('UNAUTHENTICATED', message), challenge);
}

function reply(status: number, statusText: string, error: object, challenge?: string): Response {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    ...(challenge && { 'www-authenticate': challenge }),
  };
  return [JSON.stringify({ errors: [error] }), { status, statusText, headers }];
}
