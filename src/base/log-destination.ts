import type { Writable } from 'node:stream';

/** Most bytes of lines that wait to be written. Past it, further lines are dropped until at most half as many bytes wait. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Size of one write in bytes, unless one line is longer. */
const CHUNK_BYTES = 64 * 1024;
/** The same beside other processes. Linux takes so many bytes into a pipe as a whole or not at all (PIPE_BUF, pipe(7)). */
const SHARED_CHUNK_BYTES = 4096;
/** Longest wait of `flush`, in ms. */
const FLUSH_TIMEOUT_MS = 3_000;

interface Chunk {
  text: string;
  bytes: number;
  lines: number;
}

/**
 * Buffers log lines for a stream, usually standard error. It never blocks on the reader: there is no synchronous flush (pino would call it
 * after `fatal` and at exit), and lines past the bound are dropped and counted. EPIPE, which means that the reader has closed the pipe,
 * ends the logging. The stream's owner handles its `error` events.
 */
export class LogDestination {
  readonly stream: Writable;
  #chunkBytes = CHUNK_BYTES;
  /** In order. The first chunk is being written. */
  readonly #chunks: Chunk[] = [];
  #waitingBytes = 0;
  #status: 'open' | 'full' | 'ended' = 'open';
  #droppedLines = 0;
  /** Lines dropped since the last call of the recovery listener. */
  #unreportedLines = 0;
  #onRecovery: (droppedLines: number) => void = () => undefined;
  /** Pending flushes. */
  readonly #onEmpty: (() => void)[] = [];

  constructor(stream: Writable) {
    this.stream = stream;
  }

  /** Lines dropped since the process started. */
  get droppedLines(): number {
    return this.#droppedLines;
  }

  /** Other processes write to the stream, too: their lines must not end up within lines of this one. */
  share(): void {
    this.#chunkBytes = SHARED_CHUNK_BYTES;
  }

  /** Sets the listener that is called with the number of dropped lines when lines are accepted again. It may write. */
  onRecovery(listener: (droppedLines: number) => void): void {
    this.#onRecovery = listener;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#status === 'open' && this.#waitingBytes + bytes > MAX_WAITING_BYTES) this.#status = 'full';
    if (this.#status !== 'open') return this.#drop(1);
    this.#waitingBytes += bytes;
    const last = this.#chunks.length > 1 ? this.#chunks.at(-1)! : undefined;
    if (last && last.bytes + bytes <= this.#chunkBytes) {
      last.text += line;
      last.bytes += bytes;
      last.lines++;
    } else if (this.#chunks.push({ text: line, bytes, lines: 1 }) === 1) this.#writeNext();
  }

  /** Calls back when the kernel has accepted all lines, when the logging has ended, or after three seconds. */
  flush(callback: () => void): void {
    if (this.#chunks.length === 0) return callback();
    let timer: NodeJS.Timeout | undefined = setTimeout(() => finish(), FLUSH_TIMEOUT_MS);
    const finish = () => {
      if (!timer) return;
      clearTimeout(timer);
      timer = undefined;
      callback();
    };
    this.#onEmpty.push(finish);
  }

  #writeNext(): void {
    const [chunk] = this.#chunks;
    if (chunk) return void this.stream.write(chunk.text, (error) => this.#onWritten(error));
    for (const callback of this.#onEmpty.splice(0)) callback();
  }

  #onWritten(error: NodeJS.ErrnoException | null | undefined): void {
    const { bytes, lines } = this.#chunks.shift()!;
    this.#waitingBytes -= bytes;
    if (error) this.#drop(lines);
    if (error?.code === 'EPIPE') this.#end();
    this.#writeNext();
    if (!error && this.#unreportedLines > 0 && this.#waitingBytes <= MAX_WAITING_BYTES / 2) this.#recover();
  }

  #recover(): void {
    this.#status = 'open';
    const lines = this.#unreportedLines;
    this.#unreportedLines = 0;
    this.#onRecovery(lines);
  }

  #end(): void {
    this.#status = 'ended';
    for (const { lines } of this.#chunks.splice(0)) this.#drop(lines);
    this.#waitingBytes = 0;
  }

  #drop(lines: number): void {
    this.#droppedLines += lines;
    this.#unreportedLines += lines;
  }
}
