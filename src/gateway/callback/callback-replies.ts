import type { Response } from 'graphql-http';
import { clientError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import { overloaded } from '../http/refusal-reply.ts';
import type { PostResult } from './callback-origin.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const FORBIDDEN: number = CLOSE_CODES.forbidden;

/** The reply to a router whose subscription begins. */
export const BEGUN: Response = [
  JSON.stringify({ data: null }),
  { status: 200, statusText: 'OK', headers: { ...JSON_TYPE, 'subscription-protocol': 'callback/1.0' } },
];

export const OFF = refusal(
  403,
  'Forbidden',
  'OPERATION_NOT_ALLOWED',
  'The HTTP callback protocol is off: list the URLs of routers in the setting CALLBACK_URLS, or subscribe over a WebSocket or a stream',
);

/** The reply to a client that ROUTERS does not name. */
export const NO_ROUTER = refusal(
  403,
  'Forbidden',
  'OPERATION_NOT_ALLOWED',
  'Only a router may use the HTTP callback protocol: name it in the setting ROUTERS, or subscribe over a WebSocket or a stream',
);

export const TOO_MANY_CHECKS = overloaded('Too many callbacks have not confirmed their subscriptions (check)');

/** What a client is told of a check: with a status or a code of an error it could find out what the pod reaches. The log has these. */
const PROBLEMS: Readonly<Partial<Record<PostResult, string>>> = {
  gone: 'the router does not know it',
  refused: 'the router refused it',
  unreachable: 'the router cannot be reached',
};

export function badCallback(message: string): Response {
  return refusal(400, 'Bad Request', 'BAD_USER_INPUT', message);
}

export function unconfirmed(result: PostResult): Response {
  return refusal(
    502,
    'Bad Gateway',
    'CALLBACK_FAILED',
    `The callback did not confirm the subscription (check): ${PROBLEMS[result]}`,
  );
}

/** The reply to a client whose subscription is closed before it is confirmed. @param code as on the WebSocket */
export function closed(code: number, reason: string): Response {
  return code === FORBIDDEN ? refusal(403, 'Forbidden', 'FORBIDDEN', reason) : overloaded(reason);
}

function refusal(status: number, statusText: string, code: ErrorCode, message: string): Response {
  return [JSON.stringify({ errors: [clientError(code, message)] }), { status, statusText, headers: JSON_TYPE }];
}
