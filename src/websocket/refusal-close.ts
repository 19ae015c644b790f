import { CloseCode } from 'graphql-ws';
import type { AuthenticationFailure } from '../identity/authenticator.ts';
import { CLOSE_CODES } from './protocol.ts';

const REASONS: Partial<Record<AuthenticationFailure, string>> = {
  token_missing: 'Token missing',
  token_expired: 'Token expired',
  token_invalid: 'Token invalid',
};

/** The close code and reason of a connection that was not authenticated. What is wrong with its token is not told: the log has it. */
export function refusalClose(failure: AuthenticationFailure): [code: number, reason: string] {
  if (failure === 'keys_unavailable') return [CLOSE_CODES.tryAgainLater, 'Tokens cannot be verified right now'];
  return [CloseCode.Forbidden, REASONS[failure] ?? 'Forbidden'];
}
