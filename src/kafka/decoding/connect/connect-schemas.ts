import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { UndecodableError } from '../decoder.ts';
import type { DecoderOptions } from '../decoder.ts';
import { isDeeper } from '../record.ts';
import { SchemaPlace } from '../schema-place.ts';
import { connectValues } from './connect-schema.ts';
import type { ConvertValue, PayloadTexts } from './connect-value.ts';

/** Converts the payload of a record, in place where it is an object. @throws UndecodableError */
export type ConvertPayload = (payload: unknown) => unknown;

/** Schemas of one topic: it may carry many tables, each with several versions. */
const MAX_SCHEMAS = 200;
/** Of objects and lists in the text of a schema, three of which make one of a payload. */
const MAX_LEVELS = 200;

/** The conversions of the schemas of one topic, of which each record repeats one (`schemas.enable=true`). */
export class ConnectSchemas {
  readonly #place: SchemaPlace;
  readonly #texts: RecordTexts;
  readonly #maxDepth: number;
  readonly #compiled = new LRUCache<string, { readonly convert: ConvertPayload | undefined }>({ max: MAX_SCHEMAS });
  /** The bytes of the last schema: comparing them takes a tenth of hashing them. */
  #last = Buffer.alloc(0);
  #convert: ConvertPayload | undefined;

  /** @param options whose shape is that of the payload that the schema describes */
  constructor(options: DecoderOptions) {
    this.#place = SchemaPlace.root(options);
    this.#texts = new RecordTexts(options);
    this.#maxDepth = options.limits.maxDepth;
  }

  /**
   * The conversion of the payload that follows a schema. undefined: its values are what fields read. The keys of the payload are still as
   * producers write them, and its numbers as `parseExactly` reads them.
   * @param schema the JSON text of the schema, or of `null`. Not kept.
   */
  of(schema: Buffer): ConvertPayload | undefined {
    if (!schema.equals(this.#last)) {
      this.#convert = this.#ofOther(schema);
      this.#last = Buffer.from(schema);
    }
    return this.#convert;
  }

  #ofOther(schema: Buffer): ConvertPayload | undefined {
    const key = hash('sha256', schema);
    let compiled = this.#compiled.get(key);
    if (!compiled) {
      const convert = connectValues(parsed(schema), this.#place);
      compiled = { convert: convert && this.#payloadConverter(convert) };
      this.#compiled.set(key, compiled);
    }
    return compiled.convert;
  }

  #payloadConverter(convert: ConvertValue): ConvertPayload {
    return (payload) => {
      this.#texts.startRecord();
      return payload === null ? null : convert(payload, this.#texts, this.#maxDepth);
    };
  }
}

/** undefined: the text is no JSON, which the record's own reader says. @throws UndecodableError */
function parsed(schema: Buffer): unknown {
  if (isDeeper(schema, MAX_LEVELS)) throw new UndecodableError('too_deep');
  try {
    return JSON.parse(schema.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** As much text as MAX_RECORD_BYTES for the converted values of one record: a scale of 2,400 makes so many digits of one byte. */
class RecordTexts implements PayloadTexts {
  readonly #options: Pick<DecoderOptions, 'limits' | 'onOverflow'>;
  #room = 0;

  constructor(options: Pick<DecoderOptions, 'limits' | 'onOverflow'>) {
    this.#options = options;
  }

  startRecord(): void {
    this.#room = this.#options.limits.maxBytes;
  }

  charged(text: string): string {
    this.#room -= text.length;
    if (this.#room < 0) throw new UndecodableError('too_large');
    return text;
  }

  beyondJson(): null {
    this.#options.onOverflow();
    return null;
  }
}
