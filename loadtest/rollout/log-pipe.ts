import { Pipe } from '../../test/support/pipe.ts';

/** What the reader of the pods' logs does: it reads, it is closed while the pods run, or it stops reading with the pipe full. */
export const LOG_READERS = ['reads', 'closed', 'stopped'] as const;
export type LogReader = (typeof LOG_READERS)[number];

const READ_INTERVAL_MS = 50;

/** A pipe for a pod's standard output and standard error. */
export class LogPipe {
  readonly #pipe: Pipe;
  readonly #reader: LogReader;
  #timer: NodeJS.Timeout | undefined;
  /** Text read. */
  text = '';

  private constructor(pipe: Pipe, reader: LogReader) {
    this.#pipe = pipe;
    this.#reader = reader;
  }

  static async create(reader: LogReader, scope: { after(fn: () => void | Promise<void>): void }): Promise<LogPipe> {
    const pipe = await Pipe.create(scope);
    const log = new LogPipe(pipe, reader);
    if (reader === 'stopped') return log;
    log.#timer = setInterval(() => (log.text += pipe.read()), READ_INTERVAL_MS);
    scope.after(() => clearInterval(log.#timer));
    return log;
  }

  get writer(): number {
    return this.#pipe.writer;
  }

  /** The reader closes the pipe, or the pipe is full from now on. */
  lose(): void {
    if (this.#reader === 'reads') return;
    clearInterval(this.#timer);
    if (this.#reader === 'closed') this.#pipe.closeReader();
    if (this.#reader === 'stopped') this.#pipe.fill();
  }
}
