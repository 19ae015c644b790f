import { pino } from 'pino';
import type { Logger } from 'pino';
import { LogDestination } from './log-destination.ts';

export type { Logger };

/** The process's logger: JSON lines on standard error, so that standard output stays free for what a person asked for. */
export function createLog(level: string, destination = new LogDestination(process.stderr)): Logger {
  const log = pino({ name: 'crier', level, base: null, serializers: { err: serializedError } }, destination);
  destination.onRecovery((lines) =>
    log.warn({ lines }, 'log lines were dropped: nobody read standard error fast enough'),
  );
  return log;
}

/** pino's serializer reads an error's own properties, which may throw; a log line must not. */
function serializedError(error: Error): unknown {
  try {
    return pino.stdSerializers.err(error);
  } catch {
    return { message: 'an error that cannot be read' };
  }
}

/**
 * Lets a log line through at most once per window and key, and says how many were held back since the last one.
 * Keys come from code, never from data, so the map is bounded.
 */
export class LogWindow {
  readonly #windowMs: number;
  readonly #held = new Map<string, { since: number; count: number }>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Calls `write(suppressed)` if the window of `key` has passed; else counts. */
  run(key: string, write: (suppressed: number) => void): void {
    const now = performance.now();
    const entry = this.#held.get(key);
    if (entry && now - entry.since < this.#windowMs) {
      entry.count++;
      return;
    }
    this.#held.set(key, { since: now, count: 0 });
    write(entry?.count ?? 0);
  }
}
