import type { KeyPlace } from '../../base/json/key-place.ts';
import { UndecodableError } from './decoder.ts';
import { decodeRecord } from './record.ts';
import type { Decoded, RecordLimits } from './record.ts';
import { SnakeCase } from './snake-case.ts';
import type { RecordDecoders } from './decoder.ts';
import { HEADER_BYTES } from './wire-format.ts';

export interface PayloadReaderOptions {
  readonly limits: RecordLimits;
  /** By topic, of its whole payloads. A topic without one keeps no keys. */
  readonly keyPlaces: ReadonlyMap<string, KeyPlace>;
  /** Of topics whose records may be other than JSON. */
  readonly decoders: ReadonlyMap<string, RecordDecoders>;
}

/** The payloads of single records, with the values that `Converter` gives them; slower, and counted nowhere. */
export class PayloadReader {
  readonly #options: PayloadReaderOptions;
  readonly #snakeCase = new SnakeCase();

  constructor(options: PayloadReaderOptions) {
    this.#options = options;
  }

  /** @throws SchemaUnavailableError */
  async read(topic: string, value: Buffer): Promise<Decoded> {
    const { limits, decoders } = this.#options;
    if (value.length > limits.maxBytes) return { poison: 'too_large' };
    const ofTopic = decoders.get(topic);
    if (!ofTopic) return this.#parse(topic, value);
    try {
      const decoding = await ofTopic.of(value);
      if (decoding === 'json') return this.#parse(topic, value);
      if (typeof decoding === 'function') return this.#parse(topic, decoding(value));
      const body = value.subarray(HEADER_BYTES);
      return decoding === 'json_after_header' ? this.#parse(topic, body) : { payload: decoding.decode(body) };
    } catch (error) {
      if (error instanceof UndecodableError) return { poison: error.reason };
      throw error;
    }
  }

  #parse(topic: string, text: Buffer): Decoded {
    const { limits, keyPlaces } = this.#options;
    const decoded = decodeRecord(text, limits);
    if (decoded.poison !== undefined) return decoded;
    return { payload: this.#snakeCase.convertObjToSnakeKeys(decoded.payload, keyPlaces.get(topic)) };
  }
}
