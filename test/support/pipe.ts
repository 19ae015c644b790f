import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './temporary-folder.ts';

const { O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** A filler that is no part of a log line. */
const FILLER = Buffer.alloc(4096, '\n');

/** A pipe of the system. This process is its reader and reads nothing unless it is told to. */
export class Pipe {
  /** The end for a child process. */
  readonly writer: number;
  readonly #path: string;
  readonly #reader: number;
  #isOpen = true;

  private constructor(path: string) {
    this.#path = path;
    this.#reader = openSync(path, O_RDONLY | O_NONBLOCK);
    this.writer = openSync(path, O_WRONLY | O_NONBLOCK);
  }

  /** Both ends are closed at the end of the test. */
  static async create(t: { after(fn: () => void | Promise<void>): void }): Promise<Pipe> {
    const path = join(await temporaryFolder(t), 'pipe');
    await promisify(execFile)('mkfifo', [path]);
    const pipe = new Pipe(path);
    t.after(() => {
      closeSync(pipe.writer);
      pipe.closeReader();
    });
    return pipe;
  }

  /** Writes until the pipe takes nothing more. */
  fill(): void {
    // A child may have made its writes block, and with them those of the end that it shares with this process.
    const own = openSync(this.#path, O_WRONLY | O_NONBLOCK);
    const isFull = isUnavailable(() => {
      for (;;) writeSync(own, FILLER);
    });
    closeSync(own);
    if (!isFull) throw new Error('the pipe is not full');
  }

  /** Up to `maxBytes` of what is in the pipe; '' when it is empty. */
  read(maxBytes = 65_536): string {
    const buffer = Buffer.alloc(maxBytes);
    let length = 0;
    isUnavailable(() => (length = readSync(this.#reader, buffer)));
    return buffer.toString('utf8', 0, length);
  }

  /** Idempotent. */
  closeReader(): void {
    if (this.#isOpen) closeSync(this.#reader);
    this.#isOpen = false;
  }
}

/** Runs `action`; returns true if the pipe is full or empty. */
function isUnavailable(action: () => void): boolean {
  try {
    action();
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    return true;
  }
}
