/** The origin and the order of a message. Of two messages of one channel and partition, the one with the higher pair (epoch, offset) is newer. */
export interface Coordinates {
  readonly partition: number;
  /** Of the Kafka record; exact up to 2^53. */
  readonly offset: number;
  /** Of the Kafka record, in ms since 1970. */
  readonly timestamp: number;
  /** Of the topic. Grows when earlier messages may be missing: the topic was recreated, or Redis lost its data. */
  readonly epoch: number;
  /** Id of its entry in the channel's history; undefined if the channel has no history. */
  readonly entry?: string | undefined;
  /** Id of the entry before it; undefined: there was none. */
  readonly previous?: string | undefined;
}

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

/**
 * A message in Redis is a header line and the payload; `redis/lua/publish.lua` writes the header. A message without a header (from
 * redis-cli, for example) is a payload without coordinates.
 *
 * The header is read byte by byte: decoding it as text for a regular expression took two to four times as long.
 *
 * @example '@0 17 1763730000000 1763720000000\n{"order":…}'
 * @example '@0 17 1763730000000 1763720000000 1763730000001-0 -\n{"order":…}' // in a history, with no entry before it
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
    const start = this.length + 1;
    this.#id();
    const middle = this.length - start;
    this.#id();
    if (this.#bytes[this.length] !== LINE_FEED) return undefined;
    const ids = this.#bytes.toString('latin1', start, this.length++);
    const previous = ids.slice(middle + 1);
    const entry = ids.slice(0, middle);
    return { partition, offset, timestamp, epoch, entry, previous: previous === '-' ? undefined : previous };
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
