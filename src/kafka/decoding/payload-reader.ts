import type { KeyPlace } from '../../base/json/key-place.ts';
import type { RecordContent } from '../batch.ts';
import { UndecodableError } from './decoder.ts';
import type { Envelope } from './envelopes/envelope.ts';
import { decodeJson, decodeRecord } from './record.ts';
import type { Decoded, RecordLimits } from './record.ts';
import { SnakeCase } from './snake-case.ts';
import type { RecordDecoders } from './decoder.ts';

export interface PayloadReaderOptions {
  readonly limits: RecordLimits;
  /** By topic, of its whole payloads. A topic without one keeps no keys. */
  readonly keyPlaces: ReadonlyMap<string, KeyPlace>;
  /** Of topics whose records may be other than JSON. */
  readonly decoders: ReadonlyMap<string, RecordDecoders>;
  /** Of topics whose records carry rows that changed. */
  readonly envelopes?: ReadonlyMap<string, Envelope>;
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
  ): Promise<Decoded | undefined> {
    const { limits, decoders } = this.#options;
    if (value.length > limits.maxBytes) return { poison: 'too_large' };
    const ofTopic = decoders.get(topic);
    try {
      if (!ofTopic) return this.#parse(topic, value);
      const decoding = await ofTopic.of(value, headers);
      if (decoding === 'json') return this.#parse(topic, value);
      if (typeof decoding === 'function') return this.#parse(topic, decoding(value));
      const { bodyAt, decoder } = decoding;
      const body = value.subarray(bodyAt);
      if (!decoder) return this.#parse(topic, body);
      const payload = decoder.decode(body);
      const envelope = this.#options.envelopes?.get(topic);
      return envelope ? rowIn(envelope, payload) : { payload };
    } catch (error) {
      if (error instanceof UndecodableError) return { poison: error.reason };
      throw error;
    }
  }

  /** @throws UndecodableError */
  #parse(topic: string, text: Buffer): Decoded | undefined {
    const { limits, keyPlaces, envelopes } = this.#options;
    const named = (payload: Record<string, unknown>) =>
      this.#snakeCase.convertObjToSnakeKeys(payload, keyPlaces.get(topic));
    const envelope = envelopes?.get(topic);
    if (envelope) {
      const { json, poison } = decodeJson(text, limits);
      if (poison !== undefined) return { poison };
      const row = rowIn(envelope, json);
      return row && { payload: named(row.payload) };
    }
    const decoded = decodeRecord(text, limits);
    return decoded.poison === undefined ? { payload: named(decoded.payload) } : decoded;
  }
}

/** undefined: the value is of no row that is there. @throws UndecodableError */
function rowIn({ read }: Envelope, value: unknown): { readonly payload: Record<string, unknown> } | undefined {
  const row = read(value)?.row;
  return row ? { payload: row } : undefined;
}
