import type { ResultTimes } from './result-times.ts';

/**
 * Messages made of shared parts. On a WebSocket each is a whole text frame (RFC 6455 section 5.2: final, unmasked). Subscriptions that share a
 * result differ only in what precedes it, such as an id. So each subscription builds these bytes once (`MessageFormat.prefixOf`), and each
 * result the bytes from there on (`ResultBytes`).
 */

const FINAL_TEXT = 0x81;
/** RSV1: the message is compressed (RFC 7692 section 6). */
const FINAL_DEFLATED_TEXT = 0xc1;
/** RFC 6455 section 5.5.2. */
const PING = 0x89;
/** Bytes of the header of a stored, uncompressed block (RFC 1951 section 3.2.4). */
const STORED_HEADER_BYTES = 5;
/** Bytes that one stored block can have. */
export const MAX_STORED_BYTES = 0xffff;

/**
 * The bytes of a text that a subscription keeps, in memory of their own. A slice of Node's pool keeps 8 KiB, shared with results that are
 * gone: measured, 2.4 KB for each of 4,000 subscriptions.
 */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** The bytes of a message after its prefix, in pieces. Subscriptions with the same result share all pieces, others some. */
export class ResultBytes {
  readonly pieces: readonly Buffer[];
  /** Bytes of all pieces. */
  readonly length: number;
  /** Of the execution; undefined: not the result of an event. */
  readonly times: ResultTimes | undefined;
  /** True: the pieces are compressed (`Deflater`). Their frame has RSV1, and its prefix is a stored block. */
  readonly isDeflated: boolean;
  /** Of its frame. */
  firstByte: number;
  /** True: kept for other members of its group. */
  isShared = false;
  /** Names the text of a compressed result that is shared (`Deflater`); 0: none. */
  textNumber = 0;
  #whole: ResultBytes | undefined;
  /** By what ended them. */
  #ended: Map<ResultEnder, ResultBytes> | undefined;

  constructor(pieces: readonly Buffer[], times?: ResultTimes, isDeflated = false) {
    let length = 0;
    for (let i = 0; i < pieces.length; i++) length += pieces[i]!.length;
    this.pieces = pieces;
    this.length = length;
    this.times = times;
    this.isDeflated = isDeflated;
    this.firstByte = isDeflated ? FINAL_DEFLATED_TEXT : FINAL_TEXT;
  }

  /** The same bytes in one piece, for a result that has to wait: many small pieces take more memory than their bytes. */
  get whole(): ResultBytes {
    if (this.pieces.length === 1) return this;
    return (this.#whole ??= new ResultBytes([Buffer.concat(this.pieces)], this.times));
  }

  /** These bytes, ended by `end`. That is done once, so subscriptions that share a result share this, too. */
  endedBy(end: ResultEnder): ResultBytes {
    const endings = (this.#ended ??= new Map<ResultEnder, ResultBytes>());
    const known = endings.get(end);
    if (known) return known;
    const ended = end(this);
    endings.set(end, ended);
    return ended;
  }
}

/** A ping of a WebSocket, in the order of the messages. @param text at most 125 bytes */
export function pingOf(text: string): ResultBytes {
  const ping = new ResultBytes([Buffer.from(text)]);
  ping.firstByte = PING;
  return ping;
}

/** Makes other last pieces. */
export type ResultEnder = (result: ResultBytes) => ResultBytes;

export interface Message {
  readonly prefix: Buffer;
  readonly result: ResultBytes;
}

/** Closes a result and the object around it, which most messages are. */
const END = Buffer.from('}}');
const EXTENSIONS = ',"extensions":{';
const CURSOR = '"cursor":"';

/** Closes a result that has a cursor, which needs no quoting, in its `extensions`. For `resultBytesOf`. */
export function cursorSuffix(cursor: string): Buffer {
  return Buffer.from(`${EXTENSIONS}"cursor":"${cursor}"}}}`);
}

/** As `cursorSuffix`, with the number of older events that the result stands for, too; undefined: neither of them is to be told. */
export function resultSuffix(cursor: string | undefined, skipped: number): Buffer | undefined {
  const members = [
    ...(skipped > 0 ? [`"skipped":${skipped}`] : []),
    ...(cursor === undefined ? [] : [`"cursor":"${cursor}"`]),
  ];
  return members.length === 0 ? undefined : Buffer.from(`${EXTENSIONS}${members.join()}}}}`);
}

/**
 * The cursor of a result; undefined: it has none.
 * @param piece its last one
 */
export function cursorIn(piece: Buffer): string | undefined {
  const at = piece.lastIndexOf(CURSOR);
  if (at < 0) return undefined;
  const start = at + CURSOR.length;
  return piece.toString('latin1', start, piece.indexOf('"', start));
}

/**
 * The bytes of a result.
 * @param json its JSON text without the closing brace, in pieces; it has no `extensions`
 * @param suffix closes the result and its message
 */
export function resultBytesOf(json: readonly Buffer[], suffix: Buffer = END, times?: ResultTimes): ResultBytes {
  return new ResultBytes([...json, suffix], times);
}

/** The JSON text of a result (`resultBytesOf`) without its `extensions`. */
export function resultText({ pieces }: ResultBytes): string {
  return `${Buffer.concat(pieces.slice(0, -1)).toString()}}`;
}

/** The same result with `notes`, members of a JSON object such as `"gap":true`, in its `extensions`. They replace members of the same names. */
export function withNotes({ pieces, times }: ResultBytes, notes: string): ResultBytes {
  const suffix = pieces.at(-1)!;
  if (REPLACING.test(notes)) return new ResultBytes([...pieces.slice(0, -1), notedSuffix(suffix, notes)], times);
  const extensions = Buffer.from(`${EXTENSIONS}${notes}${suffix === END ? '}' : ','}`);
  const rest = suffix === END ? END : suffix.subarray(EXTENSIONS.length);
  return new ResultBytes([...pieces.slice(0, -1), extensions, rest], times);
}

/** Notes of which a suffix may have the same. */
const REPLACING = /"(?:skipped|cursor)":/;
const SUFFIX_MEMBER = /"(\w+)":(?:\d+|"[^"]*")/g;

/** A suffix of `resultSuffix` with notes, which replace its members of the same names. */
function notedSuffix(suffix: Buffer, notes: string): Buffer {
  const members = Array.from(suffix.subarray(EXTENSIONS.length).toString().matchAll(SUFFIX_MEMBER))
    .filter(([, name]) => !notes.includes(`"${name}":`))
    .map(([text]) => text);
  return Buffer.from(`${EXTENSIONS}${[notes, ...members].join()}}}}`);
}

/** Bytes of a frame whose message has `length` bytes. */
export function frameLength(length: number): number {
  return length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
}

/** Writes the header of a message of `length` bytes and returns the offset after it. */
function writeHeader(target: Buffer, offset: number, length: number, first: number): number {
  target[offset] = first;
  if (length < 126) {
    target[offset + 1] = length;
    return offset + 2;
  }
  if (length < 65_536) {
    target[offset + 1] = 126;
    return target.writeUInt16BE(length, offset + 2);
  }
  target[offset + 1] = 127;
  return target.writeUIntBE(length, target.writeUInt16BE(0, offset + 2), 6);
}

/** Bytes of a message: the payload of its frame. */
function payloadLength({ prefix, result }: Message): number {
  const length = prefix.length + result.length;
  return result.isDeflated && prefix.length > 0 ? length + STORED_HEADER_BYTES : length;
}

/** Bytes that a message takes on the socket. */
export function lengthOf(message: Message, hasFrame: boolean): number {
  const length = payloadLength(message);
  return hasFrame ? frameLength(length) : length;
}

/** Writes everything before the result of a message and returns the offset after it. */
export function writeStart(target: Buffer, offset: number, message: Message, hasFrame: boolean): number {
  const { prefix, result } = message;
  if (hasFrame) offset = writeHeader(target, offset, payloadLength(message), result.firstByte);
  if (result.isDeflated && prefix.length > 0) {
    target[offset] = 0;
    target.writeUInt16LE(prefix.length, offset + 1);
    target.writeUInt16LE(~prefix.length & MAX_STORED_BYTES, offset + 3);
    offset += STORED_HEADER_BYTES;
  }
  target.set(prefix, offset);
  return offset + prefix.length;
}

/**
 * Writes messages in sequence. `target` must have room for them.
 * @param hasFrames false: without the headers of WebSocket frames
 */
export function writeFrames(target: Buffer, messages: readonly Message[], hasFrames = true): void {
  let offset = 0;
  for (let i = 0; i < messages.length; i++) {
    offset = writeStart(target, offset, messages[i]!, hasFrames);
    const { pieces } = messages[i]!.result;
    for (let j = 0; j < pieces.length; j++) {
      target.set(pieces[j]!, offset);
      offset += pieces[j]!.length;
    }
  }
}

/** True if the prefixes and pieces of two batches have the same lengths, and their frames the same first bytes. */
export function haveEqualLayout(messages: readonly Message[], others: readonly Message[]): boolean {
  if (messages.length !== others.length) return false;
  for (let i = 0; i < messages.length; i++) {
    const { prefix, result } = messages[i]!;
    const other = others[i]!;
    if (prefix.length !== other.prefix.length || (result !== other.result && !haveSameLengths(result, other.result)))
      return false;
  }
  return true;
}

function haveSameLengths({ pieces, firstByte }: ResultBytes, other: ResultBytes): boolean {
  if (pieces.length !== other.pieces.length || firstByte !== other.firstByte) return false;
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i] !== other.pieces[i] && pieces[i]!.length !== other.pieces[i]!.length) return false;
  }
  return true;
}

/** Overwrites the frames of `others` with those of `messages`, where the two differ. Both have equal layout (`haveEqualLayout`). */
export function overwrite(
  target: Buffer,
  messages: readonly Message[],
  others: readonly Message[],
  hasFrames = true,
): void {
  let end = 0;
  for (let i = 0; i < messages.length; i++) {
    const { prefix, result } = messages[i]!;
    end += lengthOf(messages[i]!, hasFrames);
    target.set(prefix, end - result.length - prefix.length);
    const before = others[i]!.result;
    if (result !== before) overwritePieces(target, end - result.length, result.pieces, before.pieces);
  }
}

function overwritePieces(target: Buffer, offset: number, pieces: readonly Buffer[], before: readonly Buffer[]): void {
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i]!;
    if (piece !== before[i]) target.set(piece, offset);
    offset += piece.length;
  }
}
