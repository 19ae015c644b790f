import type { FrameSink } from './frame-reader.ts';

const LINE_FEED = 10;
const COMMENT = ':';

/** Finds the server-sent events of a stream by the empty lines between them. Comments of one colon are not reported. */
export class EventStreamReader {
  readonly #sink: Pick<FrameSink, 'onMessage' | 'onPayload' | 'wantsPayload'>;
  /** Bytes of the current event so far. */
  #bytes = 0;
  /** True if the last of them is a line feed. */
  #hasLineFeed = false;

  constructor(sink: Pick<FrameSink, 'onMessage' | 'onPayload' | 'wantsPayload'>) {
    this.#sink = sink;
  }

  /** Reads the first `length` bytes of a chunk, which may be reused after the call. */
  read(chunk: Buffer, length = chunk.length): void {
    const bytes = chunk.subarray(0, length);
    let from = 0;
    while (from < length) {
      const isSplit = this.#hasLineFeed && from === 0 && bytes[0] === LINE_FEED;
      const at = isSplit ? -1 : bytes.indexOf('\n\n', from, 'latin1');
      if (at < 0 && !isSplit) return this.#keep(bytes.subarray(from));
      if (at >= 0) this.#keep(bytes.subarray(from, at + 1));
      from = isSplit ? 1 : at + 2;
      const total = this.#bytes;
      this.#bytes = 0;
      this.#hasLineFeed = false;
      if (total > COMMENT.length + 1) this.#sink.onMessage(total, false);
    }
  }

  #keep(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#hasLineFeed = bytes.at(-1) === LINE_FEED;
    if (this.#sink.wantsPayload) this.#sink.onPayload(bytes, bytes.length);
  }
}

/** The data of an event. */
export function jsonOf(event: string): string {
  return /^data: (.*)$/m.exec(event)?.[1] ?? '';
}
