import type { Socket } from 'node:net';

/** Time in ms that a client should need to read what is on its way to it. */
const TARGET_MS = 500;
/**
 * Time in ms that a window covers beside twice that of the quickest pong, as a pong confirms half a window. What it has beyond that gets old when the
 * client reads more slowly.
 */
const SPARE_MS = 100;
/** Least time in ms over which the rate of a client is measured: events come in bursts. */
const RATED_MS = 500;
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
  /** Bytes before the latest ping. */
  #marked = 0;
  /** When that was sent; undefined: its pong has come. */
  #markedAt: number | undefined;
  #marks = 0;
  /** The shortest time between a ping and its pong, in ms. */
  #quickest = Infinity;
  /** What the client has read in a ms, and since when, with `#read` then. */
  #rate = 0;
  #ratedAt: number;
  #ratedRead: number;
  /** True if the window was full since the latest ping. */
  #wasFull = false;

  /** @param ping sends a ping with this text after all that is queued */
  constructor(
    stream: Pick<Socket, 'bytesWritten'>,
    ping: (mark: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#stream = stream;
    this.#ping = ping;
    this.#now = now;
    this.#read = this.#marked = this.#ratedRead = stream.bytesWritten;
    this.#ratedAt = now();
  }

  /** When the ping was sent whose pong has not come, of `performance.now()`; undefined: there is none. */
  get markedAt(): number | undefined {
    return this.#markedAt;
  }

  /** True if the client has more to read than it should: a pong will come. @param queued bytes that the stream does not have yet */
  isFull(queued: number): boolean {
    const sent = this.#stream.bytesWritten + queued;
    const isFull = sent - this.#read > this.#size;
    this.#wasFull ||= isFull;
    if (this.#markedAt === undefined && (isFull || sent - this.#marked >= this.#size / 2)) this.#mark(sent);
    return isFull;
  }

  /** Returns false if the pong is not for a ping of this window. */
  onPong(mark: string): boolean {
    if (this.#markedAt === undefined || mark !== this.#markText) return false;
    const now = this.#now();
    const elapsed = now - this.#markedAt;
    this.#markedAt = undefined;
    this.#read = this.#marked;
    this.#quickest = Math.min(this.#quickest, elapsed);
    if (now - this.#ratedAt >= RATED_MS) this.#measure(now);
    if (elapsed > TARGET_MS) this.#size = Math.max(MIN_BYTES, this.#size * Math.max(0.5, TARGET_MS / elapsed));
    else if (this.#wasFull && elapsed < TARGET_MS / 2) this.#size = Math.min(MAX_BYTES, this.#size * 2);
    this.#size = Math.min(this.#size, Math.max(FIRST_BYTES, this.#rate * (2 * this.#quickest + SPARE_MS)));
    this.#wasFull = false;
    return true;
  }

  #measure(now: number): void {
    this.#rate = (this.#read - this.#ratedRead) / (now - this.#ratedAt);
    this.#ratedAt = now;
    this.#ratedRead = this.#read;
  }

  #mark(sent: number): void {
    this.#marks++;
    this.#marked = sent;
    this.#markedAt = this.#now();
    this.#ping(this.#markText);
  }

  get #markText(): string {
    return `read ${this.#marks}`;
  }
}
