import { RateLimit } from '../../base/limits/rate-limit.ts';
import type { GlueRegistry } from './glue-registry.ts';
import type { RegisteredSchema } from './schema-registry.ts';
import { glueFramingOf } from './wire-format.ts';
import type { GlueId } from './wire-format.ts';

/** Requests for ids that may be none. */
const GUESSES_PER_SECOND = 1;

/** AWS Glue for the records of one topic: its values and keys share what Glue has known of them. */
export class TopicGlue {
  readonly #glue: Pick<GlueRegistry, 'schema'>;
  readonly #guesses = new RateLimit(GUESSES_PER_SECOND, GUESSES_PER_SECOND);
  #hasKnown = false;

  constructor(glue: Pick<GlueRegistry, 'schema'>) {
    this.#glue = glue;
  }

  /** As `GlueRegistry.schema`. */
  async schema(id: GlueId): Promise<RegisteredSchema | undefined> {
    const schema = await this.#glue.schema(id);
    if (schema) this.#hasKnown = true;
    return schema;
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
