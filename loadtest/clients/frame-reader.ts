export interface FrameSink {
  /** Called for each data message, after its last fragment. `bytes`: length of its payload. `isCompressed`: its frame has RSV1. */
  onMessage(bytes: number, isCompressed: boolean): void;
  /** Called for each ping, pong and close frame. */
  onControl(opcode: number, payload: Buffer): void;
  /** Whether `onPayload` is called. */
  readonly wantsPayload: boolean;
  /** Called with payload chunks, which are reused after the call. `left`: bytes of the frame from the start of the chunk. */
  onPayload(chunk: Buffer, left: number): void;
}

export const OPCODE = { text: 1, close: 8, ping: 9, pong: 10 } as const;

/** Finds the frames in a server's byte stream by their headers alone. */
export class FrameReader {
  readonly #sink: FrameSink;
  /** The current frame's header: bytes seen, and its length. */
  #headerIndex = 0;
  #headerEnd = 2;
  #first = 0;
  #size = 0;
  /** Outstanding payload bytes of the current frame. */
  #left = 0;
  #messageBytes = 0;
  #control: Buffer[] = [];

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Reads the first `length` bytes of a chunk, which may be reused after the call. */
  read(chunk: Buffer, length = chunk.length): void {
    let i = 0;
    while (i < length) {
      if (this.#left === 0) {
        if (this.#readHeader(chunk[i++]!)) this.#left = this.#size;
        else continue;
      }
      const taken = Math.min(this.#left, length - i);
      if (taken > 0) {
        if (this.#first & 8) this.#control.push(Buffer.from(chunk.subarray(i, i + taken)));
        else if (this.#sink.wantsPayload) this.#sink.onPayload(chunk.subarray(i, i + taken), this.#left);
      }
      i += taken;
      this.#left -= taken;
      if (this.#left === 0) this.#finish();
    }
  }

  /** Returns true when the header is complete. */
  #readHeader(byte: number): boolean {
    const index = this.#headerIndex++;
    if (index === 0) {
      this.#first = byte;
      return false;
    }
    if (index === 1) {
      const length = byte & 127;
      this.#headerEnd = length < 126 ? 2 : length === 126 ? 4 : 10;
      this.#size = length < 126 ? length : 0;
    } else {
      this.#size = this.#size * 256 + byte;
    }
    return this.#headerIndex === this.#headerEnd;
  }

  #finish(): void {
    const isFinal = (this.#first & 128) !== 0;
    const opcode = this.#first & 15;
    this.#headerIndex = 0;
    if (opcode & 8) {
      const payload = Buffer.concat(this.#control);
      this.#control = [];
      this.#sink.onControl(opcode, payload);
      return;
    }
    this.#messageBytes += this.#size;
    if (!isFinal) return;
    const bytes = this.#messageBytes;
    this.#messageBytes = 0;
    this.#sink.onMessage(bytes, (this.#first & 64) !== 0);
  }
}

/** Creates a client's frame. The mask is zero, so the payload stays unchanged. */
export function clientFrame(opcode: number, payload: string | Buffer): Buffer {
  const body = Buffer.from(payload as string);
  const header = body.length < 126 ? Buffer.alloc(6) : Buffer.alloc(8);
  header[0] = 128 | opcode;
  if (body.length < 126) header[1] = 128 | body.length;
  else {
    header[1] = 128 | 126;
    header.writeUInt16BE(body.length, 2);
  }
  return Buffer.concat([header, body]);
}
