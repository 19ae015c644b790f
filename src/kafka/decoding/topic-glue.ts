import { RateLimit } from '../../base/limits/rate-limit.ts';
import type { GlueRegistry } from './glue-registry.ts';
import { SchemaUnavailableError } from './schema-errors.ts';
import type { RegisteredSchema } from './schema-registry.ts';
import { glueFramingOf } from './wire-format.ts';
import type { GlueId } from './wire-format.ts';

/** Requests for ids that may be none. */
const GUESSES_PER_SECOND = 1;
const DOUBT =
  'It has known no schema of this topic since the start: if the records are JSON, say format: JSON in @kafka';

/** AWS Glue for the records of one topic: its values and keys share what Glue has known of them. */
export class TopicGlue {
  readonly #glue: Pick<GlueRegistry, 'schema'>;
  readonly #guesses = new RateLimit(GUESSES_PER_SECOND, GUESSES_PER_SECOND);
  readonly #format: string | undefined;
  #hasKnown = false;

  /** @param format of the topic's values; undefined: each record says it */
  constructor(glue: Pick<GlueRegistry, 'schema'>, format?: string) {
    this.#glue = glue;
    this.#format = format;
  }

  /** As `GlueRegistry.schema`. */
  async schema(id: GlueId): Promise<RegisteredSchema | undefined> {
    const schema = await this.#glue.schema(id).catch((error: unknown) => {
      throw this.#doubted(error);
    });
    if (schema) this.#hasKnown = true;
    return schema;
  }

  /** AWS's SDK may be there for another purpose, and records may only look like those of Glue. */
  #doubted(error: unknown): unknown {
    if (this.#hasKnown || this.#format !== undefined || !(error instanceof SchemaUnavailableError)) return error;
    return new SchemaUnavailableError(`${error.message}. ${DOUBT}`);
  }

  /**
   * True if a key is Glue's. A binary key may begin like one, so it counts as one beside a value of Glue, or after Glue has known an id of the
   * topic. Until then Glue is asked now and then, which no record waits for.
   */
  nameSchema(key: Buffer, value: Buffer | null): boolean {
    const framing = glueFramingOf(key);
    if (!framing) return false;
    if (this.#hasKnown || (value !== null && glueFramingOf(value) !== undefined)) return true;
    if (this.#guesses.take(performance.now())) this.schema(framing.schema).catch(() => undefined);
    return false;
  }
}
