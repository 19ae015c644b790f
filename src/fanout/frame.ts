/**
 * Whole WebSocket text frames (RFC 6455 section 5.2: final, unmasked), made of two parts that are built once each and
 * shared. The `next` message of graphql-transport-ws is `{"id":"…","type":"next","payload":…}`: only the id differs between
 * subscriptions that share a result, so the bytes before the payload belong to the subscription, the rest to the result.
 */

const FINAL_TEXT = 0x81;

/** Everything before the payload; ids are any string a client may choose (quotes, escapes, lone surrogates). */
export function nextPrefix(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}

/**
 * The payload and what follows it. `payloadJson`: the result, as JSON text. A cursor (which needs no quoting) becomes
 * `extensions.cursor`, in front, so that what is said to one subscription can be put beside it without a copy.
 */
export function nextRest(payloadJson: string, cursor?: string): Buffer {
  return Buffer.from(
    cursor === undefined ? `${payloadJson}}` : `${EXTENSIONS}"cursor":"${cursor}"},${payloadJson.slice(1)}}`,
  );
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

/** Writes the frame of a message in two parts, for which there must be room, and returns the offset after it. */
export function writeFrame(target: Buffer, offset: number, prefix: Buffer, rest: Buffer): number {
  const start = writeHeader(target, offset, prefix.length + rest.length);
  target.set(prefix, start);
  target.set(rest, start + prefix.length);
  return start + prefix.length + rest.length;
}
