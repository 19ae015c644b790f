import type { Response } from 'graphql-http';
import type { ConnectionRefusal } from '../connections/connections.ts';
import { overloaded, tooMany } from '../http/refusal-reply.ts';
import { textReply } from '../http/request-head.ts';
import { MAX_WAIT_SECONDS } from './catch-up.ts';

/** The replies to requests for a new stream that the pod or a limit of the client refuses. */
export const CONNECTION_REFUSALS: Readonly<Record<ConnectionRefusal, Response>> = {
  draining: overloaded('The server is shutting down'),
  memory: overloaded('The server is short of memory', 10),
  loop_lag: overloaded('The server is overloaded (loop_lag)'),
  connections: overloaded('The server has as many connections as it may have (MAX_CONNECTIONS)'),
  open_files: overloaded('The server has as many connections as it may have open files for (ulimit -n)'),
  handshake_rate: overloaded('Too many connections at once (MAX_HANDSHAKES_PER_SECOND)'),
  address: tooMany('This address has as many connections as it may have (MAX_CONNECTIONS_PER_ADDRESS)'),
};

export const USER_REFUSAL = tooMany('This user has as many connections as a user may have (MAX_CONNECTIONS_PER_USER)');
export const RESERVATIONS_REFUSAL = overloaded('Too many streams are reserved and not opened');
export const RATE_REFUSAL = tooMany('Too many requests for one stream (MAX_MESSAGES_PER_SECOND)');

/** Nobody receives it. */
export const CLIENT_LEFT: Response = [null, { status: 499, statusText: 'Client Closed Request' }];
export const UNKNOWN_STREAM = textReply(
  404,
  'Not Found',
  'No stream has this token: reserve one with PUT, and open it with GET in time. A stream and its requests must reach the same pod. A token of a user goes into the header "authorization: Bearer <token>"\n',
);
export const NOT_OPEN = textReply(409, 'Conflict', 'The stream is reserved, not open: open it with GET first\n');
export const IS_OPEN = textReply(409, 'Conflict', 'The stream is open already: reserve another one with PUT\n');
export const LEAVING = overloaded('The stream ends: reserve another one with PUT, and start the operation there');
export const NO_OPERATION_ID = textReply(
  400,
  'Bad Request',
  'An operation on a reserved stream needs extensions.operationId: a text that names its results\n',
);
export const USED_OPERATION_ID = textReply(409, 'Conflict', 'The stream has an operation with this operationId\n');
export const BAD_WAIT = textReply(
  400,
  'Bad Request',
  `extensions.resume.wait is a number of seconds, from 0 to ${MAX_WAIT_SECONDS}\n`,
);
export const PIPELINED = textReply(
  400,
  'Bad Request',
  'A stream may not be requested while another request of the same connection waits for its reply\n',
);

export function longOperationId(maxBytes: number): Response {
  return textReply(400, 'Bad Request', `An operationId may have ${maxBytes} bytes\n`);
}

export function longHeaders(maxBytes: number): Response {
  const text = `Headers may have ${maxBytes} bytes beside Authorization and Cookie\n`;
  return textReply(431, 'Request Header Fields Too Large', text);
}
