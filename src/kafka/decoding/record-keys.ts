import { OPENING, QUOTE } from '../../base/json/characters.ts';
import type { KeyPlace } from '../../base/json/key-place.ts';
import type { RecordContent } from '../batch.ts';
import { ConnectSchemas } from './connect/connect-schemas.ts';
import { UNREAD, UndecodableError } from './decoder.ts';
import type { KeyDecoders, RecordDecoding } from './decoder.ts';
import { withoutSchema } from './envelopes/connect.ts';
import { decodeJson } from './record.ts';
import type { RecordLimits } from './record.ts';
import type { SnakeCase } from './snake-case.ts';
import { SCHEMA_HEADERS, nameSchema } from './schema-headers.ts';
import { GLUE_BYTE, MAGIC_BYTE, schemaIdOf } from './wire-format.ts';

export interface RecordKeysOptions {
  readonly limits: RecordLimits;
  readonly snakeCase: SnakeCase;
  /** Of the topic's whole payloads: a member of a key has the name that a payload's has. undefined: no object keeps its names. */
  readonly keyPlace: KeyPlace | undefined;
  /** undefined: there is no schema registry. */
  readonly decoders: KeyDecoders | undefined;
}

/** Decodes the keys of one topic's records. */
export class RecordKeys {
  readonly #options: RecordKeysOptions;
  readonly #schemas: ConnectSchemas;

  constructor(options: RecordKeysOptions) {
    this.#options = options;
    const { limits } = options;
    // Decimals and times are texts, as in the keys of Avro.
    this.#schemas = new ConnectSchemas({ nameOf: (name) => name, shape: UNREAD, limits, onOverflow: () => undefined });
  }

  /**
   * The record with its key decoded (`keyValue`), or with the reason why it cannot be (`keyProblem`); the record itself if its key is what its
   * bytes are. A key with a schema is replaced by the text of its value, so that one key has one text, whichever schema it was written with.
   * A promise only while the schema is fetched. @throws SchemaUnavailableError, also as a rejection
   */
  read(record: RecordContent): RecordContent | Promise<RecordContent> {
    const { key, headers } = record;
    if (key !== null && nameSchema(headers, SCHEMA_HEADERS.key)) return this.#readFramed(record, key);
    switch (key?.[0]) {
      case MAGIC_BYTE:
      case GLUE_BYTE:
        // Else a binary number, such as a long of 8 bytes.
        return this.#namesSchema(key, record.value) ? this.#readFramed(record, key) : record;
      case OPENING:
      case QUOTE:
        return this.#readText(record, key);
      default:
        return record;
    }
  }

  #namesSchema(key: Buffer, value: Buffer | null): boolean {
    const { decoders } = this.#options;
    return decoders ? decoders.nameSchema(key, value) : schemaIdOf(key) !== undefined;
  }

  #readFramed(record: RecordContent, key: Buffer): RecordContent | Promise<RecordContent> {
    const { decoders, limits } = this.#options;
    if (!decoders) return { ...record, keyProblem: 'needs_registry' };
    if (key.length > limits.maxBytes) return { ...record, keyProblem: 'too_large' };
    try {
      const decoding = decoders.of(key, record.headers);
      if (!(decoding instanceof Promise)) return this.#decode(decoding, record, key);
      return decoding
        .then((fetched) => this.#decode(fetched, record, key))
        .catch((error: unknown) => withProblem(record, error));
    } catch (error) {
      return withProblem(record, error);
    }
  }

  /** @throws UndecodableError */
  #decode(decoding: RecordDecoding, record: RecordContent, key: Buffer): RecordContent {
    if (typeof decoding === 'function') return withText(record, this.#named(this.#parse(decoding(key))));
    const { bodyAt, decoder } = decoding === 'json' ? { bodyAt: 0, decoder: undefined } : decoding;
    const body = key.subarray(bodyAt);
    return withText(record, decoder ? decoder.decodeKey(body) : this.#named(this.#parse(body)));
  }

  /** A key that may be JSON. It stays what it is if it is none. */
  #readText(record: RecordContent, key: Buffer): RecordContent {
    let json: unknown;
    try {
      json = this.#parse(key);
    } catch {
      return record;
    }
    const value = withoutSchema(json);
    if (value === json) return { ...record, keyValue: this.#named(json) };
    try {
      const convert = this.#schemas.split(key)?.convert;
      return withText(record, this.#named(convert ? convert(value) : value));
    } catch (error) {
      return withProblem(record, error);
    }
  }

  /** @throws UndecodableError */
  #parse(text: Buffer): unknown {
    const { json, poison } = decodeJson(text, this.#options.limits);
    if (poison !== undefined) throw new UndecodableError(poison);
    return json;
  }

  #named(value: unknown): unknown {
    const { snakeCase, keyPlace } = this.#options;
    return snakeCase.convertObjToSnakeKeys(value, keyPlace);
  }
}

/** @param value null: Connect writes it for a record without a key */
function withText(record: RecordContent, value: unknown): RecordContent {
  if (value === null) return { ...record, key: null };
  return { ...record, key: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), keyValue: value };
}

function withProblem(record: RecordContent, error: unknown): RecordContent {
  if (error instanceof UndecodableError) return { ...record, keyProblem: error.reason };
  throw error;
}

/** @param topics whose fields need the decoded keys of records */
export function recordKeysOf(
  topics: Iterable<string>,
  {
    keyPlaces,
    decoders,
    ...options
  }: Pick<RecordKeysOptions, 'limits' | 'snakeCase'> & {
    readonly keyPlaces: ReadonlyMap<string, KeyPlace>;
    readonly decoders: ReadonlyMap<string, KeyDecoders>;
  },
): ReadonlyMap<string, RecordKeys> {
  const keysOf = (topic: string) =>
    new RecordKeys({ ...options, keyPlace: keyPlaces.get(topic), decoders: decoders.get(topic) });
  return new Map(Array.from(topics, (topic) => [topic, keysOf(topic)]));
}
