import { CloseCode } from 'graphql-ws';
import type { AuthenticationFailure } from '../identity/authenticator.ts';
import { CLOSE_CODES } from './close-codes.ts';

const REASONS: Partial<Record<AuthenticationFailure, string>> = {
  token_missing: 'Token missing',
  token_expired: 'Token expired',
  token_invalid: 'Token invalid',
  token_revoked: 'Revoked',
  other_subject: 'Token of another subject',
  keys_unavailable: 'Tokens cannot be verified right now',
};

/** What a client is told. What is wrong with its token is not told: the log has it. */
export function refusalReason(failure: AuthenticationFailure): string {
  return REASONS[failure] ?? 'Forbidden';
}

/** The close code and reason of a connection that was not authenticated. */
export function refusalClose(failure: AuthenticationFailure): [code: number, reason: string] {
  const code = failure === 'keys_unavailable' ? CLOSE_CODES.tryAgainLater : CloseCode.Forbidden;
  return [code, refusalReason(failure)];
}
