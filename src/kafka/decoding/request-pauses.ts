import { LRUCache } from 'lru-cache';
import { SchemaUnavailableError } from './schema-errors.ts';

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;
const MAX_PAUSES = 1000;

/** Time in which requests for one schema fail at once. */
interface Pause {
  readonly until: number;
  /** Of requests for the schema, one after the other. */
  readonly failures: number;
  readonly reason: string;
}

/**
 * The pauses after failed requests for schemas: 250 ms, then twice the last one up to 5 s, less up to a half at random. A registry may fail for
 * one schema alone, so others are asked for meanwhile.
 */
export class RequestPauses {
  readonly #pauses = new LRUCache<string, Pause>({ max: MAX_PAUSES });

  /** @throws SchemaUnavailableError during a pause, with the reason of the last failure */
  check(schema: string): void {
    const pause = this.#pauses.get(schema);
    if (pause && performance.now() < pause.until) throw new SchemaUnavailableError(pause.reason);
  }

  /** Begins a pause. Returns the error of the failed request. */
  begin(schema: string, reason: string): SchemaUnavailableError {
    const failures = this.#pauses.get(schema)?.failures ?? 0;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
    this.#pauses.set(schema, { until: performance.now() + pauseMs, failures: failures + 1, reason });
    return new SchemaUnavailableError(reason);
  }

  /** A request for the schema was answered. */
  end(schema: string): void {
    this.#pauses.delete(schema);
  }
}
