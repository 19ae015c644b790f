import { LRUCache } from 'lru-cache';
import { errorOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RecordHeaders } from '../batch.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import { PATIENCE_MS, UndecodableError } from './decoder.ts';
import type { CompileSchema, DecoderOptions, KeyDecoders, RecordDecoding, RecordPart } from './decoder.ts';
import { inflatedDecoding, isDeflated } from './inflated-decoding.ts';
import { KeyEvidence } from './key-evidence.ts';
import { protobufDecoding } from './protobuf-framing.ts';
import { SchemaUnavailableError } from './schema-errors.ts';
import { SCHEMA_HEADERS, framingIn, nameSchema } from './schema-headers.ts';
import type { SchemaHeaderNames } from './schema-headers.ts';
import type { RegisteredSchema, SchemaRegistry, SchemaType } from './schema-registry.ts';
import type { TopicGlue } from './topic-glue.ts';
import { UnknownSchemas } from './unknown-schemas.ts';
import { UnusableSchemas } from './unusable-schemas.ts';
import { FIRST_MESSAGE, GLUE_BYTE, HEADER_BYTES, LONG_HEADER_BYTES, MAGIC_BYTE } from './wire-format.ts';
import { glueFramingOf, longIdOf, schemaIdOf } from './wire-format.ts';
import type { Framing, GlueId, SchemaId } from './wire-format.ts';

export type Compilers = Readonly<Record<SchemaType, () => Promise<CompileSchema>>>;

export interface TopicDecodersOptions {
  readonly topic: string;
  /** Default: the values. */
  readonly part?: RecordPart;
  /** undefined: each record says it by its header, or is JSON without one. */
  readonly format: 'AVRO' | 'PROTOBUF' | 'JSON_SCHEMA' | undefined;
  /** Whose newest schema decodes the records that name none in a header of Kafka; undefined: records name their schema. */
  readonly subject?: string | undefined;
  /** undefined: there is none with Confluent's API. */
  readonly registry: Pick<SchemaRegistry, 'schema' | 'isApicurio'> | undefined;
  /** undefined: AWS Glue is not asked. */
  readonly glue?: Pick<TopicGlue, 'schema' | 'nameSchema'> | undefined;
  readonly compilers: Compilers;
  readonly decoderOptions: DecoderOptions;
  readonly log: Logger;
}

const MAX_DECODERS = 200;
/** Time after which the newest schema of a subject is fetched again; the former one is used meanwhile. */
const NEWEST_MS = 30_000;
/** Time in which a registry that has not answered is not waited for, of ids that may be none. */
const SILENCE_MS = 30_000;
const FORMAT_TYPES = { AVRO: 'AVRO', PROTOBUF: 'PROTOBUF', JSON_SCHEMA: 'JSON' } as const;
const JSON_BODY: RecordDecoding = { bodyAt: HEADER_BYTES, decoder: undefined };
const JSON_LONG_BODY: RecordDecoding = { bodyAt: LONG_HEADER_BYTES, decoder: undefined };

/** The decoders of one topic whose records may have schemas, by the schema's id. Keeps the 200 that were used last. */
export class TopicDecoders implements KeyDecoders {
  readonly #options: TopicDecodersOptions;
  readonly #headers: SchemaHeaderNames;
  /** undefined: records name their schema. */
  readonly #newest: Framing | undefined;
  readonly #decodings = new LRUCache<number | string, RecordDecoding>({
    max: MAX_DECODERS,
    allowStale: true,
    noDeleteOnStaleGet: true,
  });
  /** By key, while a schema is fetched; each rejects when the patience ends. A partition waits for one id, which bounds them. */
  readonly #fetching = new Map<number | string, Promise<RecordDecoding>>();
  readonly #unusable: UnusableSchemas;
  readonly #unknown = new UnknownSchemas();
  /** undefined: the decoders are those of values. */
  readonly #evidence: KeyEvidence | undefined;
  #silentUntil = -Infinity;

  constructor(options: TopicDecodersOptions) {
    const { topic, part = 'value', subject, log } = options;
    this.#options = options;
    this.#unusable = new UnusableSchemas(topic, log);
    this.#headers = SCHEMA_HEADERS[part];
    this.#evidence = part === 'key' ? new KeyEvidence() : undefined;
    const schema = `subjects/${subject ?? ''}` as const;
    this.#newest = subject === undefined ? undefined : { key: schema, schema, bodyAt: 0, message: FIRST_MESSAGE };
  }

  /** A promise while the schema is fetched. @throws UndecodableError, SchemaUnavailableError */
  of(bytes: Buffer, headers: RecordHeaders | undefined): RecordDecoding | Promise<RecordDecoding> {
    const { format, registry, glue } = this.#options;
    // A bare record may begin like one with a header.
    const named = headers === undefined ? undefined : this.#byHeader(headers);
    if (named !== undefined) return named;
    if (this.#newest) return this.#byNewest(this.#newest);
    const ofGlue = glue && bytes[0] === GLUE_BYTE ? glueFramingOf(bytes) : undefined;
    if (ofGlue?.isCompressed && !isDeflated(bytes, ofGlue.bodyAt)) throw new UndecodableError('not_zlib');
    if (ofGlue) return format === 'JSON_SCHEMA' ? this.#jsonOf(ofGlue) : this.#by(ofGlue);
    if (format === undefined && (bytes[0] !== MAGIC_BYTE || !registry)) return 'json';
    const id = schemaIdOf(bytes);
    if (id !== undefined) {
      if (format === 'JSON_SCHEMA') return JSON_BODY;
      return this.#decodings.get(id) ?? this.#fetch({ key: id, schema: id, bodyAt: HEADER_BYTES });
    }
    const longId = longIdOf(bytes);
    if (longId === undefined) throw new UndecodableError(glueFramingOf(bytes) ? 'needs_registry' : 'no_schema_id');
    if (format === 'JSON_SCHEMA') return JSON_LONG_BODY;
    const schema = `globalIds/${longId}` as const;
    return this.#by({ key: schema, schema, bodyAt: LONG_HEADER_BYTES, message: FIRST_MESSAGE, mayHaveRef: true });
  }

  /**
   * True if a key begins with a header that names a schema. Elsewhere than with an Apicurio the first 9 bytes of a key are no id of 8 bytes, but a
   * long with the time of a window.
   */
  nameSchema(key: Buffer, value: Buffer | null): boolean {
    const { registry, glue } = this.#options;
    if (key[0] === GLUE_BYTE) return glue !== undefined && glue.nameSchema(key, value);
    return schemaIdOf(key) !== undefined || (registry?.isApicurio === true && longIdOf(key) !== undefined);
  }

  /** undefined: no header names a schema. */
  #byHeader(headers: RecordHeaders): RecordDecoding | Promise<RecordDecoding> | undefined {
    const { format, registry, part } = this.#options;
    if (registry) {
      const framing = framingIn(headers, this.#headers);
      return framing && (format === 'JSON_SCHEMA' ? 'json' : this.#by(framing));
    }
    if (!nameSchema(headers, this.#headers)) return undefined;
    // A JSON record may have such a header, too: other readers validate the record by it.
    if (format === 'JSON_SCHEMA' || (format === undefined && part !== 'key')) return 'json';
    throw new UndecodableError('needs_registry');
  }

  #by(framing: Framing): RecordDecoding | Promise<RecordDecoding> {
    return this.#decodings.get(framing.key) ?? this.#fetch(framing);
  }

  /** The former schema is used while a newer one is fetched, and when it cannot be had. */
  #byNewest(framing: Framing): RecordDecoding | Promise<RecordDecoding> {
    const { key } = framing;
    const decoding = this.#decodings.get(key);
    if (!decoding) return this.#fetch(framing);
    if (this.#decodings.getRemainingTTL(key) <= 0 && !this.#fetching.has(key)) {
      this.#decodings.set(key, decoding, { ttl: NEWEST_MS });
      this.#fetch(framing).catch(() => undefined);
    }
    return decoding;
  }

  async #fetch(framing: Framing): Promise<RecordDecoding> {
    const fetching = this.#fetching.get(framing.key) ?? this.#beginFetch(framing);
    return this.#mayBeNone ? this.#doubted(fetching) : fetching;
  }

  /** Beside binary keys, others may have a schema: a registry that answers is waited for, or they would count as keys that nothing can read. */
  async #doubted(fetching: Promise<RecordDecoding>): Promise<RecordDecoding> {
    fetching.catch(() => undefined);
    if (performance.now() < this.#silentUntil) throw new UndecodableError('unknown_schema');
    try {
      return await fetching;
    } catch (error) {
      if (error instanceof UndecodableError) throw error;
      this.#silentUntil = performance.now() + SILENCE_MS;
      throw new UndecodableError('unknown_schema', { cause: error });
    }
  }

  /** @throws UndecodableError */
  #beginFetch(framing: Framing): Promise<RecordDecoding> {
    const { key, schema } = framing;
    this.#unusable.check(framing);
    if (!this.#unknown.mayLookUp(schema, performance.now(), this.#mayBeNone))
      throw new UndecodableError('unknown_schema');
    const pending = () =>
      new SchemaUnavailableError(`${registryOf(schema)} has not answered yet`, schema, { isPending: true });
    const loading = withTimeout(() => this.#load(framing), PATIENCE_MS, pending);
    this.#fetching.set(key, loading);
    return loading;
  }

  /** True if what looks like the id of a schema is most probably none. */
  get #mayBeNone(): boolean {
    return this.#evidence?.areBinary === true;
  }

  async #load(framing: Framing): Promise<RecordDecoding> {
    const { key } = framing;
    try {
      const decoding = await this.#compile(framing);
      this.#decodings.set(key, decoding, { ttl: framing === this.#newest ? NEWEST_MS : 0 });
      return decoding;
    } finally {
      this.#fetching.delete(key);
    }
  }

  async #compile(framing: Framing): Promise<RecordDecoding> {
    const { schema: id } = framing;
    const { format } = this.#options;
    try {
      const schema = await this.#schema(id);
      if (!schema) throw this.#unknownError(id);
      this.#unknown.delete(id);
      const { type, text, references } = schema;
      if (format !== undefined && type !== FORMAT_TYPES[format]) throw this.#unusable.addOtherFormat(framing, type);
      if (type === 'JSON') return this.#jsonOf(framing);
      const compile = await this.#compiler(type);
      const { decoderOptions } = this.#options;
      const compiled = compile(text, references, { ...decoderOptions, isOfGlue: isGlueId(id) });
      const decoder = this.#evidence ? this.#evidence.observe(compiled) : compiled;
      const decoding = type === 'PROTOBUF' ? protobufDecoding(framing, decoder) : { bodyAt: framing.bodyAt, decoder };
      return framing.isCompressed ? inflatedDecoding(decoding, decoderOptions.limits.maxBytes) : decoding;
    } catch (error) {
      if (error instanceof SchemaUnavailableError) throw new SchemaUnavailableError(error.message, id);
      if (error instanceof UndecodableError) throw error;
      throw this.#unusable.add(framing, error);
    }
  }

  /** @throws UndecodableError if there is no registry of this kind */
  #schema(id: SchemaId): Promise<RegisteredSchema | undefined> {
    const { registry, glue } = this.#options;
    if (isGlueId(id)) return glue!.schema(id);
    if (!registry) throw new UndecodableError('needs_registry');
    return registry.schema(id);
  }

  #jsonOf({ bodyAt, isCompressed }: Framing): RecordDecoding {
    const { limits } = this.#options.decoderOptions;
    const decoding = { bodyAt, decoder: undefined };
    return isCompressed ? inflatedDecoding(decoding, limits.maxBytes) : decoding;
  }

  /** @throws SchemaUnavailableError if its module cannot be read now, which says nothing of the schema */
  async #compiler(type: SchemaType): Promise<CompileSchema> {
    try {
      return await this.#options.compilers[type]();
    } catch (error) {
      throw new SchemaUnavailableError(`the decoder of ${type} could not be loaded: ${errorOf(error).message}`);
    }
  }

  #unknownError(id: SchemaId): Error {
    if (this.#unknown.judge(id, performance.now(), this.#mayBeNone) === 'wait')
      return new SchemaUnavailableError(`${registryOf(id)} does not know schema ${id}`, id);
    this.#evidence?.onUndecodable();
    return new UndecodableError('unknown_schema');
  }
}

function isGlueId(id: SchemaId): id is GlueId {
  return typeof id === 'string' && id.startsWith('glue/');
}

function registryOf(id: SchemaId): string {
  return isGlueId(id) ? 'AWS Glue' : 'the schema registry';
}
