import { LRUCache } from 'lru-cache';
import { errorOf } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import { PATIENCE_MS, UndecodableError } from './decoder.ts';
import type {
  CompileSchema,
  DecoderOptions,
  FramedDecoding,
  RecordDecoders,
  RecordDecoding,
  RecordPart,
} from './decoder.ts';
import { valuePlace } from './envelopes/envelope.ts';
import { envelopeOf } from './envelopes/envelopes.ts';
import type { NamedEnvelope } from './envelopes/envelopes.ts';
import { ownFormats } from './own-format.ts';
import type { TopicOfFormat } from './own-format.ts';
import type { DecodeReason } from './record.ts';
import { SchemaUnavailableError, UnusableSchemaError } from './schema-errors.ts';
import type { RegisteredSchema, SchemaRegistry, SchemaType } from './schema-registry.ts';
import { UnknownSchemas } from './unknown-schemas.ts';
import { HEADER_BYTES, MAGIC_BYTE, schemaIdOf } from './wire-format.ts';

export type Compilers = Readonly<Record<SchemaType, () => Promise<CompileSchema>>>;

export interface TopicDecodersOptions {
  readonly topic: string;
  /** Default: the values. */
  readonly part?: RecordPart;
  /** undefined: each record says it by its header, or is JSON without one. */
  readonly format: 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA' | undefined;
  readonly registry: Pick<SchemaRegistry, 'schema'>;
  readonly compilers: Compilers;
  readonly decoderOptions: DecoderOptions;
  readonly log: Logger;
}

const MAX_DECODERS = 200;
/** Time for which a schema that cannot be used is not fetched again. */
const UNUSABLE_MS = 30_000;
const LOG_WINDOW_MS = 10_000;
const JSON_BODY: FramedDecoding = { bodyAt: HEADER_BYTES, decoder: undefined };

/** The decoders of one topic whose records may have schemas, by the schema's id. Keeps the 200 that were used last. */
export class TopicDecoders implements RecordDecoders {
  readonly #options: TopicDecodersOptions;
  readonly #decodings = new LRUCache<number, FramedDecoding>({ max: MAX_DECODERS });
  /** By id, while its schema is fetched; each rejects when the patience ends. A partition waits for one id, which bounds them. */
  readonly #fetching = new Map<number, Promise<RecordDecoding>>();
  readonly #unusable = new LRUCache<number, DecodeReason>({ max: MAX_DECODERS, ttl: UNUSABLE_MS });
  readonly #unknown = new UnknownSchemas();
  readonly #log = new LogWindow(LOG_WINDOW_MS);

  constructor(options: TopicDecodersOptions) {
    this.#options = options;
  }

  /** A promise while the schema is fetched. @throws UndecodableError, SchemaUnavailableError */
  of(bytes: Buffer): RecordDecoding | Promise<RecordDecoding> {
    const { format } = this.#options;
    if (format === undefined && bytes[0] !== MAGIC_BYTE) return 'json';
    const id = schemaIdOf(bytes);
    if (id === undefined) throw new UndecodableError('no_schema_id');
    if (format === 'JSON_SCHEMA') return JSON_BODY;
    return this.#decodings.get(id) ?? this.#fetch(id);
  }

  async #fetch(id: number): Promise<RecordDecoding> {
    const fetching = this.#fetching.get(id);
    if (fetching) return fetching;
    const unusable = this.#unusable.get(id);
    if (unusable !== undefined) throw new UndecodableError(unusable);
    if (!this.#unknown.mayLookUp(id, performance.now())) throw new UndecodableError('unknown_schema');
    const pending = () =>
      new SchemaUnavailableError('the schema registry has not answered yet', id, { isPending: true });
    const loading = withTimeout(() => this.#load(id), PATIENCE_MS, pending);
    this.#fetching.set(id, loading);
    return loading;
  }

  async #load(id: number): Promise<RecordDecoding> {
    try {
      const decoding = await this.#compile(id);
      this.#decodings.set(id, decoding);
      return decoding;
    } finally {
      this.#fetching.delete(id);
    }
  }

  async #compile(id: number): Promise<FramedDecoding> {
    const { registry, format, decoderOptions } = this.#options;
    try {
      const schema = await registry.schema(id);
      if (!schema) throw this.#unknownError(id);
      this.#unknown.delete(id);
      if (schema.type === 'JSON' && format === undefined) return JSON_BODY;
      if (format !== undefined && schema.type !== format) throw this.#otherFormat(id, schema);
      const compile = await this.#compiler(schema.type);
      return { bodyAt: HEADER_BYTES, decoder: compile(schema.text, schema.references, decoderOptions) };
    } catch (error) {
      if (error instanceof SchemaUnavailableError) throw new SchemaUnavailableError(error.message, id);
      if (error instanceof UndecodableError) throw error;
      throw this.#unusableError(id, 'unusable_schema', errorOf(error).message);
    }
  }

  /** @throws SchemaUnavailableError if its module cannot be read now, which says nothing of the schema */
  async #compiler(type: SchemaType): Promise<CompileSchema> {
    try {
      return await this.#options.compilers[type]();
    } catch (error) {
      throw new SchemaUnavailableError(`the decoder of ${type} could not be loaded: ${errorOf(error).message}`);
    }
  }

  #unknownError(id: number): Error {
    return this.#unknown.judge(id, performance.now()) === 'wait'
      ? new SchemaUnavailableError(`the schema registry does not know schema ${id}`, id)
      : new UndecodableError('unknown_schema');
  }

  #otherFormat(id: number, { type }: RegisteredSchema): Error {
    const fix = `correct the format in @kafka, or leave it out: then each record says it`;
    return this.#unusableError(id, 'other_format', `its type is ${type}; ${fix}`);
  }

  #unusableError(id: number, reason: DecodeReason, why: string): UndecodableError {
    this.#unusable.set(id, reason);
    const { log, topic } = this.#options;
    this.#log.run(reason, (suppressed) =>
      log.error({ topic, schema: id, reason, err: { message: why }, suppressed }, 'a schema cannot be used'),
    );
    return new UndecodableError(reason, { cause: new UnusableSchemaError(why) });
  }
}

/** What a graph reads of one topic, and what it says of the format of the topic's records (graph/schema/topic-reads.ts). */
interface DecodedTopic extends Pick<DecoderOptions, 'nameOf' | 'shape'>, TopicOfFormat {
  readonly format: string | undefined;
  readonly envelope?: NamedEnvelope | undefined;
}

/** The decoders of the topics whose records may be other than JSON. */
export function topicDecoders(
  topics: readonly DecodedTopic[],
  {
    limits,
    onOverflow,
    ...options
  }: Pick<TopicDecodersOptions, 'registry' | 'compilers' | 'log' | 'part'> &
    Pick<DecoderOptions, 'limits' | 'onOverflow'>,
): ReadonlyMap<string, RecordDecoders> {
  const decoders = new Map<string, RecordDecoders>(ownFormats(topics, options.log));
  for (const { topic, format, envelope, nameOf, shape: rows } of topics) {
    if (format === 'JSON' || decoders.has(topic)) continue;
    const shape = envelope ? valuePlace(envelopeOf(envelope), rows) : rows;
    const decoderOptions = { nameOf, shape, limits, onOverflow };
    decoders.set(topic, new TopicDecoders({ ...options, topic, format: schemaFormat(format), decoderOptions }));
  }
  return decoders;
}

/** @throws TypeError for a format that has neither schemas nor a decoder of the graph */
function schemaFormat(format: string | undefined): TopicDecodersOptions['format'] {
  switch (format) {
    case undefined:
    case 'AVRO':
    case 'PROTOBUF':
    case 'JSON_SCHEMA':
      return format;
    default:
      throw new TypeError(`the format ${format} has no decoder`);
  }
}
