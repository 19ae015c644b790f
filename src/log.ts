import { pino } from 'pino';
import type { Logger } from 'pino';

export type { Logger };

/** Lines that wait for a reader of standard error, in bytes; while there are more, further lines are lost. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** The process's logger: JSON lines on standard error, so that standard output stays free for what a person asked for. */
export function createLog(level: string): Logger {
  return pino(
    { name: 'crier', level, base: null, serializers: { err: serializedError } },
    pino.destination({ fd: 2, sync: false, minLength: 0, maxLength: MAX_WAITING_BYTES }),
  );
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
