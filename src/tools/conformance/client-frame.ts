/** RFC 6455 opcodes. */
export const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, ping: 0x9 } as const;

export interface ClientFrameOptions {
  /** Default: text. */
  opcode?: number;
  /** Default: true. */
  isFinal?: boolean;
  /** The three reserved bits as a number, 0 to 7. Default: 0. */
  reserved?: number;
  /** A client must mask. Default: true. */
  isMasked?: boolean;
  /** The length that the header claims, where it is not the payload's. */
  claimedBytes?: number;
}

/** A client's frame as bytes, also one that no proper client would send. The mask key is zero, so the payload stays readable. */
export function clientFrame(payload: string | Buffer, options: ClientFrameOptions = {}): Buffer {
  const { opcode = OPCODE.text, isFinal = true, reserved = 0, isMasked = true } = options;
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const bytes = options.claimedBytes ?? body.length;
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  const header = Buffer.alloc(bytes < 126 ? 2 : bytes < 65536 ? 4 : 10);
  header[0] = first;
  if (bytes < 126) header[1] = mask | bytes;
  else if (bytes < 65536) {
    header[1] = mask | 126;
    header.writeUInt16BE(bytes, 2);
  } else {
    header[1] = mask | 127;
    header.writeBigUInt64BE(BigInt(bytes), 2);
  }
  return Buffer.concat([header, Buffer.alloc(isMasked ? 4 : 0), body]);
}
