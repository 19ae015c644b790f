import type { AuthenticationFailure } from '../identity/authenticator.ts';
import { CLOSE_CODES } from './close-codes.ts';
import type { ConnectionRefusal } from './connections.ts';
import { DRAIN_REASON } from './drain.ts';

type Close = [code: number, reason: string];

/** The close code and reason of a handshake that is not admitted. */
export const ADMISSION_CLOSES: Readonly<Record<ConnectionRefusal, Close>> = {
  draining: [CLOSE_CODES.goingAway, DRAIN_REASON],
  address: tryAgain('this address has as many connections as it may have'),
  memory: tryAgain('the server is short of memory'),
  loop_lag: tryAgain('the server is overloaded'),
  connections: tryAgain('the server has as many connections as it may have'),
  open_files: tryAgain('the server has as many connections as it may have open files for'),
  handshake_rate: tryAgain('too many connections at once'),
};

function tryAgain(reason: string): Close {
  return [CLOSE_CODES.tryAgainLater, `Try again later: ${reason}`];
}

const REASONS: Partial<Record<AuthenticationFailure, string>> = {
  token_missing: 'Token missing: the payload needs { "token": "<token>" }',
  token_expired: 'Token expired',
  token_invalid: 'Token invalid: the log of the server says why',
  token_revoked: 'Revoked',
  other_subject: 'Token of another subject',
  keys_unavailable: 'Tokens cannot be verified right now',
};

/** The reason that a client is told. The fault of its token stands in the log only. */
export function refusalReason(failure: AuthenticationFailure): string {
  return REASONS[failure] ?? 'Forbidden';
}

/** The close code and reason of a connection that was not authenticated. */
export function refusalClose(failure: AuthenticationFailure): Close {
  const code = failure === 'keys_unavailable' ? CLOSE_CODES.tryAgainLater : CLOSE_CODES.forbidden;
  return [code, refusalReason(failure)];
}
