import { inflateSync } from 'node:zlib';
import { UndecodableError } from './decoder.ts';
import type { FramedDecoding, RecordDecoding } from './decoder.ts';

/** https://www.rfc-editor.org/rfc/rfc1950#section-2.2 */
const DEFLATE = 8;
const CHECK = 31;
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** The decoding of records whose body is compressed by zlib. @param maxBytes of the body: a few bytes may stand for gigabytes */
export function inflatedDecoding({ bodyAt, decoder }: FramedDecoding, maxBytes: number): RecordDecoding {
  if (!decoder) return (bytes) => inflate(bytes.subarray(bodyAt), maxBytes);
  return {
    bodyAt,
    decoder: {
      fields: decoder.fields,
      decode: (body) => decoder.decode(inflate(body, maxBytes)),
      decodeKey: (body) => decoder.decodeKey(inflate(body, maxBytes)),
    },
  };
}

/** False: what begins at the offset is no zlib. */
export function isDeflated(bytes: Buffer, at: number): boolean {
  return bytes.length >= at + 2 && (bytes[at]! & 0x0f) === DEFLATE && bytes.readUInt16BE(at) % CHECK === 0;
}

/** @throws UndecodableError */
function inflate(body: Buffer, maxBytes: number): Buffer {
  try {
    return inflateSync(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UndecodableError(code === TOO_LARGE ? 'too_large' : 'not_zlib', { cause: error });
  }
}
