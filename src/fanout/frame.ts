/**
 * Whole WebSocket text frames (RFC 6455 section 5.2: final, unmasked), made of two parts that are built once each and
 * shared. The `next` message of graphql-transport-ws is `{"id":"…","type":"next","payload":…}`: only the id differs between
 * subscriptions that share a result, so the bytes before the payload belong to the subscription, the rest to the result.
 */

import { CLOSING } from '../json/characters.ts';

const FINAL_TEXT = 0x81;

/** Everything before the payload; ids are any string a client may choose (quotes, escapes, lone surrogates). */
export function nextPrefix(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}

/**
 * The payload and what follows it. `payloadJson`: the result, as JSON text in pieces, those in bytes UTF-8. A cursor (which needs no quoting) becomes
 * `extensions.cursor`, in front, so that what is said to one subscription can be put beside it without a copy.
 */
export function nextRest(payloadJson: readonly (Buffer | string)[], cursor?: string): Buffer {
  const lead = cursor === undefined ? '' : `${EXTENSIONS}"cursor":"${cursor}"},`;
  // The brace that the result begins with is the lead's.
  const start = Math.max(0, lead.length - 1);
  let length = start + 1;
  for (const piece of payloadJson) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const rest = Buffer.allocUnsafe(length);
  let end = start;
  for (const piece of payloadJson) {
    if (typeof piece === 'string') end += rest.write(piece, end);
    else {
      rest.set(piece, end);
      end += piece.length;
    }
  }
  rest.write(lead, 'latin1');
  rest[end] = CLOSING;
  return rest;
}

/** No result begins like this: the executor makes no extensions. */
const EXTENSIONS = '{"extensions":{';
const EXTENSIONS_BYTES = Buffer.from(EXTENSIONS);

/** The parts of a message whose `extensions` also have `notes`: members of a JSON object, such as `"gap":true`. The rest stays shared. */
export function notedParts(prefix: Buffer, rest: Buffer, notes: string): [prefix: Buffer, rest: Buffer] {
  const hasExtensions = rest.subarray(0, EXTENSIONS.length).equals(EXTENSIONS_BYTES);
  const start = Buffer.from(`${EXTENSIONS}${notes}${hasExtensions ? ',' : '},'}`);
  return [Buffer.concat([prefix, start]), rest.subarray(hasExtensions ? EXTENSIONS.length : 1)];
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

/** Writes the frames of messages in two parts each, for which there must be room, behind each other. */
export function layOut(target: Buffer, parts: readonly Buffer[]): void {
  let offset = 0;
  for (let i = 0; i < parts.length; i += 2) {
    const prefix = parts[i]!;
    const rest = parts[i + 1]!;
    offset = writeHeader(target, offset, prefix.length + rest.length);
    target.set(prefix, offset);
    target.set(rest, offset + prefix.length);
    offset += prefix.length + rest.length;
  }
}

/** Writes only the first parts to where they belong, over those of messages with parts of the same lengths. */
export function stamp(target: Buffer, parts: readonly Buffer[]): void {
  let end = 0;
  for (let i = 0; i < parts.length; i += 2) {
    const prefix = parts[i]!;
    const restLength = parts[i + 1]!.length;
    end += frameLength(prefix.length + restLength);
    target.set(prefix, end - restLength - prefix.length);
  }
}
