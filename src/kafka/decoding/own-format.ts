import { errorOf } from '../../base/errors.ts';
import { withBigInts } from '../../base/json/exact-numbers.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import { PATIENCE_MS, UndecodableError } from './decoder.ts';
import type { RecordDecoders, RecordDecoding } from './decoder.ts';
import { FormatUnavailableError } from './schema-errors.ts';

type Decode = (value: Buffer) => unknown;
/** Makes a function that returns what JSON has, of a record's value. */
type LoadOwnFormat = () => Decode | Promise<Decode>;

export interface TopicOfFormat {
  readonly topic: string;
  /** undefined: its format is one of crier's. */
  readonly loadFormat?: LoadOwnFormat | undefined;
}

const LOG_WINDOW_MS = 10_000;
const NO_DECODER = 'it must be a function that returns the decoder, such as export const CBOR = () => (value) => …';

/** The decoders of the topics whose format the graph brings. */
export function ownFormats(topics: readonly TopicOfFormat[], log: Logger): ReadonlyMap<string, RecordDecoders> {
  const own = topics.filter(({ loadFormat }) => loadFormat);
  return new Map(own.map(({ topic, loadFormat }) => [topic, new OwnFormat(topic, loadFormat!, log)]));
}

/** The records of a topic whose format the graph brings. They become JSON text, and take the path of JSON, with its limits. */
export class OwnFormat implements RecordDecoders {
  readonly #topic: string;
  readonly #load: LoadOwnFormat;
  readonly #log: Logger;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #decoding: RecordDecoding | Promise<RecordDecoding> | undefined;

  constructor(topic: string, load: LoadOwnFormat, log: Logger) {
    this.#topic = topic;
    this.#load = load;
    this.#log = log;
  }

  /** A promise while the format is loaded. @throws FormatUnavailableError as a rejection, if that fails: the caller retries */
  of(): RecordDecoding | Promise<RecordDecoding> {
    const decoding = (this.#decoding ??= this.#open());
    return decoding instanceof Promise ? withTimeout(() => decoding, PATIENCE_MS, pending) : decoding;
  }

  async #open(): Promise<RecordDecoding> {
    try {
      // It may throw at once, before `of` has set the promise.
      const decode = await Promise.resolve().then(() => this.#load());
      if (typeof decode !== 'function') throw new TypeError(NO_DECODER);
      this.#decoding = (value) => this.#jsonOf(decode, value);
      return this.#decoding;
    } catch (error) {
      this.#decoding = undefined;
      throw new FormatUnavailableError(`the format could not be loaded: ${errorOf(error).message}`);
    }
  }

  /** @throws UndecodableError */
  #jsonOf(decode: Decode, value: Buffer): Buffer {
    try {
      return Buffer.from(JSON.stringify(decode(value), printable));
    } catch (error) {
      const reason = reasonOf(error);
      this.#window.run(reason, (suppressed) =>
        this.#log.warn({ topic: this.#topic, reason, suppressed }, 'the decoder of a format of the graph failed'),
      );
      throw new UndecodableError('not_own_format', { cause: error });
    }
  }
}

function pending(): Error {
  return new FormatUnavailableError('the format is being loaded', undefined, { isPending: true });
}

/** A mistake of the decoder itself. Its message has nothing of a record. */
class DecoderMistake extends TypeError {}

/**
 * A whole number that a double cannot hold becomes its text, as it does in records of JSON and Avro.
 * @throws DecoderMistake for what JSON.stringify prints as an empty object
 */
function printable(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return withBigInts(key, value);
  if (value instanceof Map || value instanceof Set)
    throw new DecoderMistake('the decoder returns a Map or a Set: it must return objects and lists');
  if ('then' in value && typeof value.then === 'function') {
    Promise.resolve(value as PromiseLike<unknown>).catch(() => undefined);
    throw new DecoderMistake('the decoder returns a promise: it must return the object');
  }
  return value;
}

/** Without the message of the decoder's own error, which may quote the record. */
function reasonOf(error: unknown): string {
  if (error instanceof DecoderMistake) return error.message;
  const { name, stack = '' } = errorOf(error);
  const frame = /^\s+at .*$/m.exec(stack)?.[0].trim();
  return frame === undefined ? name : `${name} ${frame}`;
}
