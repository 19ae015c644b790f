import { randomBytes } from 'node:crypto';
import { clientError } from '../../base/errors.ts';
import { withLastPiece } from './sse-format.ts';
import type { StreamFormat } from './stream-format.ts';

/** Cannot be guessed: Hive Router looks for it inside of lines, too, so a payload that contains it would cut its part. */
const BOUNDARY = randomBytes(12).toString('hex');
const PART = '\r\ncontent-type: application/json\r\n\r\n';
/** Begins a part and ends the one before. Clients take a part for complete only when they see it, so each part is sent with it. */
const DELIMITER = `\r\n--${BOUNDARY}`;
/** Makes the delimiter before it the last one. */
const LAST = '--\r\n';
const PREFIX = Buffer.from(`${PART}{"payload":`);
const END_OF_PART = Buffer.from(DELIMITER);

/** GraphQL subscriptions over multipart HTTP (`subscriptionSpec=1.0`), as Apollo's clients and routers request them. */
export const MULTIPART: StreamFormat = {
  name: 'multipart',
  contentType: `multipart/mixed; boundary="${BOUNDARY}"; subscriptionSpec=1.0`,
  hasFrames: false,
  opening: DELIMITER,
  ping: part({}),
  closing: (closeCode, reason) => {
    const errors = [clientError('STREAM_CLOSED', reason || 'The stream is closed', { closeCode })];
    return part({ payload: null, errors }) + LAST;
  },
  prefixOf: () => PREFIX,
  // A message of the WebSocket ends with two braces, too.
  endResult: withLastPiece((piece) => Buffer.concat([piece, END_OF_PART])),
  next: (_id, payload) => part({ payload }),
  error: (_id, errors) => part({ payload: { errors } }) + LAST,
  complete: () => LAST,
};

function part(content: object): string {
  return `${PART}${JSON.stringify(content)}${DELIMITER}`;
}
