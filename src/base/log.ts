import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import { LogDestination } from './log-destination.ts';
import { textLine } from './log-text.ts';
import { escapeHidden } from './visible.ts';

export type { Logger };

/** `json`: each line is an object, for programs. `text`: each line is for people. */
export type LogFormat = 'json' | 'text';

/** The format that LOG_FORMAT asks for. `auto`: text on a terminal, else JSON. */
export function logFormat(setting: LogFormat | 'auto', stream: NodeJS.WriteStream = process.stderr): LogFormat {
  if (setting !== 'auto') return setting;
  return (stream.isTTY as boolean | undefined) ? 'text' : 'json';
}

/**
 * The process's logger. It writes lines to standard error; standard output is for results. Its level may be set at any time, so nobody
 * makes a child of it: a child keeps the level that it began with.
 *
 * @param facts fields of every line
 */
export function createLog(
  level: string,
  facts: Readonly<Record<string, string>> = {},
  destination = new LogDestination(process.stderr),
  format: LogFormat = 'json',
): Logger {
  // In JSON hidden characters are inside strings only, where an escape means the same.
  const shown = format === 'json' ? escapeHidden : (line: string) => textLine(line, destination.stream);
  const log = pino(
    {
      level,
      base: facts,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: serializedError },
    },
    {
      write: (line: string) => destination.write(shown(line)),
      flush: (callback: () => void) => destination.flush(callback),
    } as DestinationStream,
  );
  destination.onRecovery((lines) =>
    log.warn({ lines }, 'log lines were dropped: standard error was not read fast enough'),
  );
  return log;
}

/**
 * Serializes an error as pino does; `{ message }`, logged where a stack says nothing, stays as it is. Never throws, although reading an
 * error's own properties may.
 */
function serializedError(error: unknown): unknown {
  try {
    if (!(error instanceof Error)) return error;
    return pino.stdSerializers.err(error);
  } catch {
    return { message: 'the error could not be read' };
  }
}

/**
 * Writes a log line at most once per window and key, with the number of lines suppressed since the last one. Keys come from code, never
 * from data, so the map is bounded.
 */
export class LogWindow {
  readonly #windowMs: number;
  readonly #entries = new Map<string, { since: number; suppressed: number }>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Calls `write` if the window of `key` has passed; otherwise counts the line as suppressed. */
  run(key: string, write: (suppressed: number) => void): void {
    const now = performance.now();
    const entry = this.#entries.get(key);
    if (entry && now - entry.since < this.#windowMs) {
      entry.suppressed++;
      return;
    }
    this.#entries.set(key, { since: now, suppressed: 0 });
    write(entry?.suppressed ?? 0);
  }

  /** Ends the window of `key`: its next line is written at once. */
  end(key: string): void {
    this.#entries.delete(key);
  }
}
