import type { Decoder } from './decoder.ts';

/** Keys that outweigh any number of earlier ones. */
const MAX_BALANCE = 16;

/**
 * Tells whether the keys of a topic are binary. A zero byte does not only begin keys that name a schema, but also longs of Kafka's and Connect's
 * serializers, and one in 256 UUIDs. Keys that their schema decodes wholly speak for schemas, and keys that no schema decodes against them.
 */
export class KeyEvidence {
  #balance = 0;

  /** True once more keys were no keys with a schema than were: a record waits for the schema of its key only while the registry answers then. */
  get areBinary(): boolean {
    return this.#balance < 0;
  }

  onUndecodable(): void {
    this.#add(-1);
  }

  /** The same decoder, whose keys count. */
  observe(decoder: Decoder): Decoder {
    return {
      fields: decoder.fields,
      decode: (body) => decoder.decode(body),
      decodeKey: (body) => {
        let isDecoded = false;
        try {
          const value = decoder.decodeKey(body);
          isDecoded = true;
          return value;
        } finally {
          this.#add(isDecoded ? 1 : -1);
        }
      },
    };
  }

  #add(weight: number): void {
    this.#balance = Math.min(Math.max(this.#balance + weight, -MAX_BALANCE), MAX_BALANCE);
  }
}
