import type { KeyPlace } from '../../base/json/key-place.ts';
import { isJsonObject } from '../../base/json/json-object.ts';
import type { RecordContent } from '../batch.ts';
import type { ConnectSchemas } from './connect/connect-schemas.ts';
import { UndecodableError } from './decoder.ts';
import { withoutSchema } from './envelopes/connect.ts';
import type { Envelope, EnvelopeChange, JsonObject } from './envelopes/envelope.ts';
import { recognisedEnvelope } from './envelopes/recognised.ts';
import type { RecognisedEnvelope } from './envelopes/recognised.ts';
import { decodeJson } from './record.ts';
import type { Decoded, RecordLimits } from './record.ts';
import { SnakeCase } from './snake-case.ts';
import type { RecordDecoders } from './decoder.ts';

/** How the records of a topic carry rows that changed. */
export interface ReadEnvelope {
  readonly envelope: Envelope;
  /** Converts the values of records whose schema Connect writes beside them. */
  readonly schemas: Pick<ConnectSchemas, 'of'>;
}

/** What a record has. */
export type ReadPayload = Decoded & {
  /** The envelope that its value shows, whatever the graph says of it. */
  readonly recognised?: RecognisedEnvelope;
  /** Of a topic with an envelope. */
  readonly change?: EnvelopeChange;
  /** True: the row is JSON, and no schema says the types of its values. */
  readonly isUntyped?: boolean;
};

export interface PayloadReaderOptions {
  readonly limits: RecordLimits;
  /** By topic, of its whole payloads. A topic without one keeps no keys. */
  readonly keyPlaces: ReadonlyMap<string, KeyPlace>;
  /** Of topics whose records may be other than JSON. */
  readonly decoders: ReadonlyMap<string, RecordDecoders>;
  /** Of topics whose records carry rows that changed. */
  readonly envelopes?: ReadonlyMap<string, ReadEnvelope>;
}

/** The payloads of single records, with the values that `Converter` gives them; slower, and counted nowhere. */
export class PayloadReader {
  readonly #options: PayloadReaderOptions;
  readonly #snakeCase = new SnakeCase();

  constructor(options: PayloadReaderOptions) {
    this.#options = options;
  }

  /** undefined: the record is of no row that is there. @throws SchemaUnavailableError */
  async read(
    { topic, headers }: Pick<RecordContent, 'topic' | 'headers'>,
    value: Buffer,
  ): Promise<ReadPayload | undefined> {
    const { limits, decoders } = this.#options;
    if (value.length > limits.maxBytes) return { poison: 'too_large' };
    const ofTopic = decoders.get(topic);
    try {
      if (!ofTopic) return this.#parse(topic, value, true);
      const decoding = await ofTopic.of(value, headers);
      if (decoding === 'json') return this.#parse(topic, value, true);
      if (typeof decoding === 'function') return this.#parse(topic, decoding(value));
      const { bodyAt, decoder } = decoding;
      const body = value.subarray(bodyAt);
      if (!decoder) return this.#parse(topic, body);
      return this.#rowIn(topic, decoder.decode(body), (row) => row);
    } catch (error) {
      if (error instanceof UndecodableError) return { poison: error.reason };
      throw error;
    }
  }

  /** @param isPlain true: no registry has its schema. @throws UndecodableError */
  #parse(topic: string, text: Buffer, isPlain = false): ReadPayload | undefined {
    const { limits, keyPlaces } = this.#options;
    const { json, poison } = decodeJson(text, limits);
    if (poison !== undefined) return { poison };
    const named = (row: JsonObject) => this.#snakeCase.convertObjToSnakeKeys(row, keyPlaces.get(topic));
    const read = this.#rowIn(topic, json, named);
    return read && isPlain && !hasSchema(json) ? { ...read, isUntyped: true } : read;
  }

  #rowIn(topic: string, value: unknown, named: (row: JsonObject) => JsonObject): ReadPayload | undefined {
    const shown = recognisedEnvelope(value);
    const recognised = shown === undefined ? {} : { recognised: shown };
    const ofTopic = this.#options.envelopes?.get(topic);
    if (!ofTopic) return { ...(isJsonObject(value) ? { payload: named(value) } : NOT_OBJECT), ...recognised };
    try {
      const change = ofTopic.envelope.read(converted(value, ofTopic.schemas));
      return change?.row ? { payload: named(change.row), change, ...recognised } : undefined;
    } catch (error) {
      if (error instanceof UndecodableError) return { poison: error.reason, ...recognised };
      throw error;
    }
  }
}

const NOT_OBJECT: Decoded = { poison: 'not_object' };

/** True for a value that has the schema of Kafka Connect beside it. */
function hasSchema(value: unknown): boolean {
  return withoutSchema(value) !== value && (value as { readonly schema: unknown }).schema !== null;
}

/** The value without the schema of Kafka Connect beside it, which says what its decimals and times are. @throws UndecodableError */
function converted(value: unknown, schemas: Pick<ConnectSchemas, 'of'>): unknown {
  const inner = withoutSchema(value);
  if (inner === value || inner === null) return value;
  const { schema } = value as { readonly schema: unknown };
  const convert = schemas.of(Buffer.from(JSON.stringify(schema)));
  return convert ? convert(inner) : inner;
}
