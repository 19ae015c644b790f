import type { Socket } from 'node:net';

/** Time in ms that a client should need to read what is on its way to it. */
const TARGET_MS = 500;
/** Bounds of a window in bytes. */
const MIN_BYTES = 16 * 1024;
const FIRST_BYTES = 64 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Bounds the bytes that a client has not read: those that wait in kernels and networks beside those of the outbox. A socket accepts megabytes before
 * it is backpressured, which a slow client reads for a minute. Measures the time to read by pings, whose pongs follow what was sent before.
 */
export class ReadWindow {
  readonly #stream: Pick<Socket, 'bytesWritten'>;
  readonly #ping: (mark: string) => void;
  readonly #now: () => number;
  #size = FIRST_BYTES;
  /** Bytes of the stream that the client has read. */
  #read = 0;
  /** Bytes of the stream before the latest ping. */
  #marked = 0;
  /** When that was sent; undefined: its pong has come. */
  #markedAt: number | undefined;
  #marks = 0;
  /** True if the window was full since the latest ping. */
  #wasFull = false;

  /** @param ping sends a ping with this text */
  constructor(
    stream: Pick<Socket, 'bytesWritten'>,
    ping: (mark: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#stream = stream;
    this.#ping = ping;
    this.#now = now;
    this.#read = this.#marked = stream.bytesWritten;
  }

  /** When the ping was sent whose pong has not come, of `performance.now()`; undefined: there is none. */
  get markedAt(): number | undefined {
    return this.#markedAt;
  }

  /** True if the client has more to read than it should. @param queued bytes that the stream does not have yet */
  isFull(queued: number): boolean {
    const { bytesWritten } = this.#stream;
    if (this.#markedAt === undefined && bytesWritten - this.#marked >= this.#size / 2) this.#mark(bytesWritten);
    const isFull = bytesWritten + queued - this.#read > this.#size;
    this.#wasFull ||= isFull;
    return isFull;
  }

  /** Returns false if the pong is not for a ping of this window. */
  onPong(mark: string): boolean {
    if (this.#markedAt === undefined || mark !== this.#markText) return false;
    const elapsed = this.#now() - this.#markedAt;
    this.#markedAt = undefined;
    this.#read = this.#marked;
    if (elapsed > TARGET_MS) this.#size = Math.max(MIN_BYTES, this.#size * Math.max(0.5, TARGET_MS / elapsed));
    else if (elapsed < TARGET_MS / 2 && this.#wasFull) this.#size = Math.min(MAX_BYTES, this.#size * 2);
    this.#wasFull = false;
    return true;
  }

  #mark(bytesWritten: number): void {
    this.#marks++;
    this.#marked = bytesWritten;
    this.#markedAt = this.#now();
    this.#ping(this.#markText);
  }

  get #markText(): string {
    return `read ${this.#marks}`;
  }
}
