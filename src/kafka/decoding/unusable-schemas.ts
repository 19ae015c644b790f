import { LRUCache } from 'lru-cache';
import { errorOf } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { UndecodableError } from './decoder.ts';
import type { DecodeReason } from './record.ts';
import { ForeignSchemaError, MissingRegistryError, UnusableSchemaError } from './schema-errors.ts';
import type { Framing } from './wire-format.ts';

const MAX_SCHEMAS = 200;
/** Time for which a schema that cannot be used is not fetched again. */
const UNUSABLE_MS = 30_000;
const LOG_WINDOW_MS = 10_000;

/** Schemas of one topic that a registry has, and that cannot be used. */
export class UnusableSchemas {
  readonly #topic: string;
  readonly #log: Logger;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  readonly #reasons = new LRUCache<number | string, DecodeReason>({ max: MAX_SCHEMAS, ttl: UNUSABLE_MS });

  constructor(topic: string, log: Logger) {
    this.#topic = topic;
    this.#log = log;
  }

  /** @throws UndecodableError if the schema cannot be used */
  check({ key }: Framing): void {
    const reason = this.#reasons.get(key);
    if (reason !== undefined) throw new UndecodableError(reason);
  }

  /** Adds and logs a schema. Returns the error of its records. */
  add(framing: Framing, error: unknown): UndecodableError {
    const reason = reasonOf(error);
    return this.#add(framing, reason, errorOf(error).message);
  }

  /** The same for a schema of another format than that of the topic. */
  addOtherFormat(framing: Framing, type: string): UndecodableError {
    const fix = 'correct the format in @kafka, or leave it out: then each record says it';
    return this.#add(framing, 'other_format', `its type is ${type}; ${fix}`);
  }

  #add({ key, schema }: Framing, reason: DecodeReason, why: string): UndecodableError {
    this.#reasons.set(key, reason);
    this.#window.run(reason, (suppressed) =>
      this.#log.error(
        { topic: this.#topic, schema, reason, err: { message: why }, suppressed },
        'a schema cannot be used',
      ),
    );
    return new UndecodableError(reason, { cause: new UnusableSchemaError(why) });
  }
}

function reasonOf(error: unknown): DecodeReason {
  if (error instanceof MissingRegistryError) return 'needs_registry';
  return error instanceof ForeignSchemaError ? 'no_schema_id' : 'unusable_schema';
}
