import { errorOf } from '../../base/errors.ts';
import { UndecodableError } from './decoder.ts';
import type { RecordDecoders, RecordDecoding } from './decoder.ts';
import { SchemaUnavailableError } from './schema-errors.ts';

/** Makes a function that returns what JSON has, of a record's value. */
type LoadOwnFormat = () => ((value: Buffer) => unknown) | Promise<(value: Buffer) => unknown>;

export interface TopicOfFormat {
  readonly topic: string;
  /** undefined: its format is one of crier's. */
  readonly loadFormat?: LoadOwnFormat | undefined;
}

/** The decoders of the topics whose format the graph brings. */
export function ownFormats(topics: readonly TopicOfFormat[]): ReadonlyMap<string, RecordDecoders> {
  return new Map(topics.flatMap(({ topic, loadFormat }) => (loadFormat ? [[topic, new OwnFormat(loadFormat)]] : [])));
}

/** The records of a topic whose format the graph brings. They become JSON text, and take the path of JSON, with its limits. */
export class OwnFormat implements RecordDecoders {
  readonly #load: LoadOwnFormat;
  #decoding: RecordDecoding | Promise<RecordDecoding> | undefined;

  constructor(load: LoadOwnFormat) {
    this.#load = load;
  }

  /** A promise while the format is loaded. @throws SchemaUnavailableError as a rejection, if that fails: the caller retries */
  of(): RecordDecoding | Promise<RecordDecoding> {
    return (this.#decoding ??= this.#open());
  }

  async #open(): Promise<RecordDecoding> {
    try {
      // It may throw at once, before `of` has set the promise.
      const decode = await Promise.resolve().then(() => this.#load());
      this.#decoding = (value) => jsonOf(decode, value);
      return this.#decoding;
    } catch (error) {
      this.#decoding = undefined;
      throw new SchemaUnavailableError(`the format could not be loaded: ${errorOf(error).message}`);
    }
  }
}

/** @throws UndecodableError */
function jsonOf(decode: (value: Buffer) => unknown, value: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(decode(value)));
  } catch (error) {
    throw new UndecodableError('not_own_format', { cause: error });
  }
}
