import { constants, inflateRawSync } from 'node:zlib';
import { lengthOf, writeFrames } from '../../../../src/gateway/fanout/outbox/frame.ts';
import type { Message } from '../../../../src/gateway/fanout/outbox/frame.ts';

/** What RFC 7692 section 7.2.2 appends to a compressed message. */
const TRAILER = Buffer.from([0x00, 0x00, 0xff, 0xff]);

const FINAL_TEXT = 0x81;
const RSV1 = 0x40;

const WINDOW_BYTES = 32 * 1024;

/** What a client with context takeover has inflated last. */
export interface ClientWindow {
  bytes: Buffer;
}

export interface ReadMessage {
  readonly text: string;
  readonly isDeflated: boolean;
  /** Bytes of the frame's payload. */
  readonly bytes: number;
}

/**
 * Reads final, unmasked text frames (RFC 6455 section 5.2), each of which may be compressed.
 * @param window of the client, which grows by the compressed messages; undefined: it keeps none
 */
export function readFrames(bytes: Buffer, window?: ClientWindow): ReadMessage[] {
  const messages: ReadMessage[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!;
    if ((first & ~RSV1) !== FINAL_TEXT) throw new Error(`no final text frame: ${first}`);
    const short = bytes[at + 1]!;
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const payload = bytes.subarray(start, start + length);
    const isDeflated = (first & RSV1) !== 0;
    const text = isDeflated ? inflated(payload, window?.bytes) : payload;
    if (isDeflated && window) window.bytes = Buffer.concat([window.bytes, text]).subarray(-WINDOW_BYTES);
    messages.push({ text: text.toString(), isDeflated, bytes: length });
    at = start + length;
  }
  return messages;
}

/** The frames of messages, in one buffer. */
export function framesOf(messages: readonly Message[]): Buffer {
  const bytes = messages.reduce((sum, message) => sum + lengthOf(message, true), 0);
  const target = Buffer.alloc(bytes + 1, 0xff);
  writeFrames(target, messages);
  if (target[bytes] !== 0xff) throw new Error('wrote past its end');
  return target.subarray(0, bytes);
}

function inflated(payload: Buffer, dictionary?: Buffer): Buffer {
  const options = { finishFlush: constants.Z_SYNC_FLUSH, ...(dictionary && { dictionary }) };
  return inflateRawSync(Buffer.concat([payload, TRAILER]), options);
}
