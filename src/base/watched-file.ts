import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Why a file gives no value. `missing`: there is no file; `bad`: it cannot be read, or its content is refused. */
export interface FileFailure {
  readonly state: 'missing' | 'bad';
  readonly message: string;
}

export interface WatchedFileOptions<Value> {
  readonly path: string;
  /** A larger file is refused. */
  readonly maxBytes: number;
  /** Called for each new content. What it throws is the failure's message. */
  readonly parse: (text: string) => Value | Promise<Value>;
  /** Default: 2000. */
  readonly intervalMs?: number | undefined;
}

const POLL_INTERVAL_MS = 2000;

/**
 * A file that may change while the server runs. A file that is bad or missing leaves the value as it is.
 *
 * It is read every 2 s and its content compared. Kubernetes replaces a symbolic link of a directory above the file, editors rename another
 * file over it, and network file systems send no events: only the content says reliably that something changed.
 */
export class WatchedFile<Value> {
  readonly path: string;
  readonly #options: WatchedFileOptions<Value>;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Content of the last file that could be read, good or bad. */
  #content: Buffer | undefined;
  #value: Value | undefined;
  #failure: FileFailure | undefined;

  constructor(options: WatchedFileOptions<Value>) {
    this.path = options.path;
    this.#options = options;
  }

  /** Of the last good file; undefined: there was none. */
  get value(): Value | undefined {
    return this.#value;
  }

  /** Of the last reading; undefined: the file is good. */
  get failure(): FileFailure | undefined {
    return this.#failure;
  }

  /** Reads the file now. Never rejects. */
  async read(): Promise<void> {
    const { path, maxBytes, parse } = this.#options;
    try {
      const content = await contentOf(path, maxBytes);
      if (this.#content?.equals(content)) return;
      this.#content = content;
    } catch (error) {
      this.#content = undefined;
      this.#failure = failureOf(path, error as NodeJS.ErrnoException);
      return;
    }
    try {
      this.#value = await parse(this.#content.toString());
      this.#failure = undefined;
    } catch (error) {
      this.#failure = failureOf(path, error as Error);
    }
  }

  /**
   * Reads the file at intervals from now on.
   * @param onChange called after a reading that changed the value or the failure, with the failure before it
   */
  watch(onChange: (before: FileFailure | undefined) => void): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#poll(onChange), this.#options.intervalMs ?? POLL_INTERVAL_MS).unref();
  }

  /** Idempotent, safe before `watch`. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #poll(onChange: (before: FileFailure | undefined) => void): Promise<void> {
    const { value, failure } = this;
    await this.read();
    if (this.#isClosed) return;
    if (this.#value !== value || this.#failure?.message !== failure?.message) onChange(failure);
    this.watch(onChange);
  }
}

/** The content of a regular file. @throws Error as a rejection */
export async function contentOf(path: string, maxBytes: number): Promise<Buffer> {
  // One open file: another may replace it at this path between a look at its size and its reading. Without O_NONBLOCK, opening a pipe waits.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('not a file');
    if (stats.size > maxBytes) throw new Error(`${stats.size} bytes, and at most ${maxBytes} are read`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function failureOf(path: string, { code, message }: NodeJS.ErrnoException): FileFailure {
  if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing', message: `there is no file ${path}` };
  return { state: 'bad', message: `${path}: ${code === 'EACCES' ? 'this user may not read it' : (code ?? message)}` };
}
