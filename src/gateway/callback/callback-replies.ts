import type { Response } from 'graphql-http';
import { clientError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

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

export function badCallback(message: string): Response {
  return refusal(400, 'Bad Request', 'BAD_USER_INPUT', message);
}

/** @param problem what the check got */
export function unconfirmed(problem: string): Response {
  return refusal(
    502,
    'Bad Gateway',
    'CALLBACK_FAILED',
    `The callback did not confirm the subscription (check): ${problem}`,
  );
}

function refusal(status: number, statusText: string, code: ErrorCode, message: string): Response {
  return [JSON.stringify({ errors: [clientError(code, message)] }), { status, statusText, headers: JSON_TYPE }];
}
