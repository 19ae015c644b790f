import { MAX_PARTS_LENGTH, partsOfFields } from '../carried-parts.ts';
import type { Coordinates } from '../coordinates.ts';
import { traceOfFields } from '../trace-fields.ts';

export interface ReceivedMessage {
  /** A slice of the message, not a copy. */
  readonly payload: Buffer;
  readonly coordinates: Coordinates | undefined;
}

const LINE_FEED = 0x0a;
const SPACE = 0x20;
const MINUS = 0x2d;
const ZERO = 0x30;
const AT_SIGN = 0x40;
const LOWER_A = 0x61;
const LOWER_Z = 0x7a;

/** Fields ` name=value` at the end of a header. */
const FIELDS = /^(?: [a-z]+=[!-~]*)+$/;
/** In bytes, of all fields. */
const MAX_FIELDS_LENGTH = 1024 + MAX_PARTS_LENGTH;

/**
 * A message in Redis is a header line and the payload; `lua/publish.lua` writes the header. A message without a header (from
 * redis-cli, for example) is a payload without coordinates.
 *
 * Fields ` name=value` may end the header. Unknown ones are ignored, so that a later version may add some.
 *
 * The header is read byte by byte: decoding it as text for a regular expression took two to four times as long.
 *
 * @example '@0 17 1763730000000 1763720000000\n{"order":…}'
 * @example '@0 17 1763730000000 1763720000000 1763730000001-0 -\n{"order":…}' // in a history, with no entry before it
 * @example '@0 17 1763730000000 1763720000000 traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n{"order":…}'
 * @example '@0 17 1763730000000 1763720000000 record=eyJoZWFkZXJzIjp7fX0\n{"order":…}'
 */
export function parseMessage(message: Buffer): ReceivedMessage {
  // JSON starts with no "@".
  if (message[0] === AT_SIGN) {
    const reader = new HeaderReader(message);
    const coordinates = reader.read();
    if (coordinates) return { payload: message.subarray(reader.length), coordinates };
  }
  return { payload: message, coordinates: undefined };
}

class HeaderReader {
  /** Bytes read so far; -1: the header is malformed. */
  length = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(): Coordinates | undefined {
    const partition = this.#number(AT_SIGN);
    const offset = this.#number(SPACE);
    const timestamp = this.#number(SPACE, true);
    const epoch = this.#number(SPACE);
    if (this.#bytes[this.length] === LINE_FEED) {
      this.length++;
      return { partition, offset, timestamp, epoch };
    }
    if (this.#isField()) return this.#fields({ partition, offset, timestamp, epoch });
    const start = this.length + 1;
    this.#id();
    const middle = this.length - start;
    this.#id();
    const isComplete = this.#bytes[this.length] === LINE_FEED;
    if (!isComplete && !this.#isField()) return undefined;
    const ids = this.#bytes.toString('latin1', start, this.length);
    const previous = ids.slice(middle + 1);
    const entry = ids.slice(0, middle);
    const coordinates = {
      partition,
      offset,
      timestamp,
      epoch,
      entry,
      previous: previous === '-' ? undefined : previous,
    };
    if (!isComplete) return this.#fields(coordinates);
    this.length++;
    return coordinates;
  }

  /** True if a field follows. */
  #isField(): boolean {
    const first = this.#bytes[this.length + 1]!;
    return this.#bytes[this.length] === SPACE && first >= LOWER_A && first <= LOWER_Z;
  }

  /** Reads the fields up to the end of the header. */
  #fields(coordinates: Coordinates): Coordinates | undefined {
    const start = this.length;
    const end = this.#bytes.subarray(start, start + MAX_FIELDS_LENGTH + 1).indexOf(LINE_FEED);
    const fields = end < 0 ? '' : this.#bytes.toString('latin1', start, start + end);
    if (!FIELDS.test(fields)) return undefined;
    this.length = start + end + 1;
    const trace = traceOfFields(fields);
    const record = partsOfFields(fields);
    return { ...coordinates, ...(trace && { trace }), ...(record !== undefined && { record }) };
  }

  /** @param delimiter the byte that must precede the number */
  #number(delimiter: number, mayBeNegative = false): number {
    const bytes = this.#bytes;
    let at = this.length;
    if (bytes[at++] !== delimiter) return this.#refuse();
    const isNegative = mayBeNegative && bytes[at] === MINUS;
    if (isNegative) at++;
    const start = at;
    let value = 0;
    for (let digit; (digit = bytes[at]! - ZERO) >= 0 && digit <= 9; at++) value = value * 10 + digit;
    if (at === start) return this.#refuse();
    this.length = at;
    return isNegative ? -value : value;
  }

  /** Reads an id of digits and hyphens; a space must precede it. */
  #id(): void {
    const bytes = this.#bytes;
    const start = this.length + 1;
    let at = start;
    for (let c; (c = bytes[at]!) === MINUS || (c >= ZERO && c <= ZERO + 9);) at++;
    this.length = bytes[start - 1] === SPACE && at > start ? at : -1;
  }

  #refuse(): number {
    return (this.length = -1);
  }
}
