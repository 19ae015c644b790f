/**
 * Whole WebSocket text frames (RFC 6455 section 5.2: final, unmasked), made of parts that are built once each and shared. The
 * `next` message of graphql-transport-ws is `{"id":"…","type":"next","payload":…}`: only the id differs between subscriptions
 * that share a result, so the bytes before the payload belong to the subscription, the rest to the result.
 */

const FINAL_TEXT = 0x81;

/** Everything before the payload; ids are any string a client may choose (quotes, escapes, lone surrogates). */
export function nextPrefix(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}

/** What follows a message's prefix, in pieces: who has the same results shares all of them, who has others still shares some. */
export class Rest {
  readonly pieces: readonly Buffer[];
  /** Of all pieces, in bytes. */
  readonly length: number;
  #whole: Rest | undefined;

  constructor(pieces: readonly Buffer[]) {
    let length = 0;
    for (let i = 0; i < pieces.length; i++) length += pieces[i]!.length;
    this.pieces = pieces;
    this.length = length;
  }

  /** The same in one piece, for as long as it may have to wait: many small pieces weigh more than their bytes. */
  get whole(): Rest {
    if (this.pieces.length === 1) return this;
    return (this.#whole ??= new Rest([Buffer.concat(this.pieces)]));
  }
}

export interface Message {
  readonly prefix: Buffer;
  readonly rest: Rest;
}

const END = Buffer.from('}');
const EXTENSIONS = '{"extensions":{';
const EXTENSIONS_BYTES = Buffer.from(EXTENSIONS);

/** What a result begins with instead of its brace, so that it has a cursor (which needs no quoting) in its `extensions`. */
export function cursorLead(cursor: string): Buffer {
  return Buffer.from(`${EXTENSIONS}"cursor":"${cursor}"},`);
}

/**
 * The payload and what follows it. `json`: the result as JSON text, in pieces; it has no extensions.
 * @param lead what stands for the first piece, which is then the result's opening brace
 */
export function nextRest(json: readonly Buffer[], lead?: Buffer): Rest {
  const pieces = [...json, END];
  if (lead) pieces[0] = lead;
  return new Rest(pieces);
}

/** The JSON text of a result (`nextRest`) without its `extensions`. */
export function resultText({ pieces }: Rest): string {
  return `{${Buffer.concat(pieces.slice(1, -1)).toString()}`;
}

/** The same result with `notes`, members of a JSON object such as `"gap":true`, in its `extensions`. */
export function notedRest({ pieces }: Rest, notes: string): Rest {
  const [first, ...others] = pieces;
  const hasExtensions = first!.subarray(0, EXTENSIONS.length).equals(EXTENSIONS_BYTES);
  const lead = Buffer.from(`${EXTENSIONS}${notes}${hasExtensions ? ',' : '},'}`);
  return new Rest([lead, first!.subarray(hasExtensions ? EXTENSIONS.length : 1), ...others]);
}

/** Bytes of a frame whose message has `length` bytes. */
export function frameLength(length: number): number {
  return length + (length < 126 ? 2 : length < 65_536 ? 4 : 10);
}

/** Writes the header of a message of `length` bytes and returns the offset after it. */
export function writeHeader(target: Buffer, offset: number, length: number): number {
  target[offset] = FINAL_TEXT;
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

/** Writes the frames of messages, for which there must be room, behind each other. */
export function layOut(target: Buffer, messages: readonly Message[]): void {
  let offset = 0;
  for (let i = 0; i < messages.length; i++) {
    const { prefix, rest } = messages[i]!;
    offset = writeHeader(target, offset, prefix.length + rest.length);
    target.set(prefix, offset);
    offset += prefix.length;
    const { pieces } = rest;
    for (let j = 0; j < pieces.length; j++) {
      target.set(pieces[j]!, offset);
      offset += pieces[j]!.length;
    }
  }
}

/** Whether the frames of messages have prefixes and pieces of the same lengths as those of others. */
export function areAlike(messages: readonly Message[], others: readonly Message[]): boolean {
  if (messages.length !== others.length) return false;
  for (let i = 0; i < messages.length; i++) {
    const { prefix, rest } = messages[i]!;
    const other = others[i]!;
    if (prefix.length !== other.prefix.length || (rest !== other.rest && !haveSameLengths(rest, other.rest)))
      return false;
  }
  return true;
}

function haveSameLengths({ pieces }: Rest, other: Rest): boolean {
  if (pieces.length !== other.pieces.length) return false;
  for (let i = 0; i < pieces.length; i++) {
    if (pieces[i] !== other.pieces[i] && pieces[i]!.length !== other.pieces[i]!.length) return false;
  }
  return true;
}

/** Writes of messages what others, which are alike, do not have, over the frames of those. */
export function stamp(target: Buffer, messages: readonly Message[], others: readonly Message[]): void {
  let end = 0;
  for (let i = 0; i < messages.length; i++) {
    const { prefix, rest } = messages[i]!;
    end += frameLength(prefix.length + rest.length);
    target.set(prefix, end - rest.length - prefix.length);
    const before = others[i]!.rest;
    if (rest !== before) stampPieces(target, end - rest.length, rest.pieces, before.pieces);
  }
}

function stampPieces(target: Buffer, offset: number, pieces: readonly Buffer[], before: readonly Buffer[]): void {
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i]!;
    if (piece !== before[i]) target.set(piece, offset);
    offset += piece.length;
  }
}
