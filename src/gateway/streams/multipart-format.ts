import { randomBytes } from 'node:crypto';
import { clientError } from '../../base/errors.ts';
import { ResultBytes } from '../fanout/outbox/frame.ts';
import type { ResultEnder } from '../fanout/outbox/frame.ts';
import type { StreamFormat } from './stream-format.ts';

/** Makes the delimiter before it the last one. */
const LAST = '--\r\n';
const NO_PREFIX = Buffer.alloc(0);
const START = '{"payload":';

/** With a boundary that no payload has: it cannot be guessed. */
export const MULTIPART = multipart(randomBytes(12).toString('hex'));

/** For clients that know this boundary only, as Python's gql, which names it in `accept`. */
export const MULTIPART_GRAPHQL = multipart('graphql');

/**
 * GraphQL subscriptions over multipart HTTP (`subscriptionSpec=1.0`), as Apollo's clients and routers request them. Each part is sent with the
 * delimiter that ends it, and names its length: clients take it for complete by the one or by the other (aiohttp reads one part ahead where
 * it knows no length).
 */
function multipart(boundary: string): StreamFormat {
  const delimiter = `\r\n--${boundary}`;
  const endOfPart = Buffer.from(delimiter);
  const part = (content: object) => {
    const text = withoutBoundary(JSON.stringify(content), boundary);
    return `${headOf(Buffer.byteLength(text))}${text}${delimiter}`;
  };
  const endResult: ResultEnder = ({ pieces, times }) => {
    const payload = withoutBoundaryBytes(pieces, boundary);
    const length = payload.reduce((bytes, piece) => bytes + piece.length, START.length);
    return new ResultBytes([Buffer.from(headOf(length) + START), ...payload, endOfPart], times);
  };
  return {
    name: 'multipart',
    contentType: `multipart/mixed; boundary=${boundary}; subscriptionSpec=1.0`,
    hasFrames: false,
    opening: delimiter,
    ping: part({}),
    closing: (closeCode, reason) => {
      const errors = [clientError('STREAM_CLOSED', reason || 'The stream is closed', { closeCode })];
      return part({ payload: null, errors }) + LAST;
    },
    prefixOf: () => NO_PREFIX,
    // A message of the WebSocket ends with two braces, too.
    endResult: (result) => result.endedBy(endResult),
    next: (_id, payload) => part({ payload }),
    error: (_id, errors) => part({ payload: { errors } }) + LAST,
    complete: () => LAST,
  };
}

function headOf(length: number): string {
  return `\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}

/** The same JSON: two hyphens stand in strings only. Some clients look for the boundary inside of lines, and would cut the part there. */
function withoutBoundary(json: string, boundary: string): string {
  return json.replaceAll(`--${boundary}`, `\\u002d-${boundary}`);
}

function withoutBoundaryBytes(pieces: readonly Buffer[], boundary: string): readonly Buffer[] {
  const json = Buffer.concat(pieces);
  return json.includes(`--${boundary}`) ? [Buffer.from(withoutBoundary(json.toString(), boundary))] : pieces;
}
