import type { RecordHeaders } from '../batch.ts';
import type { DecodeReason, RecordLimits } from './record.ts';

/** What the fields of a graph read at one place of a topic's payloads (graph/schema/payload-shape.ts). */
export interface PayloadPlace {
  /** Empty: no field reads this place, though one may read a place below it. */
  readonly kinds: ReadonlySet<'number' | 'text' | 'custom' | 'object'>;
  /** The place that a key leads to; of a list, the place below its items. */
  at(key: string): PayloadPlace;
}

/** A place of which no field reads anything. */
export const UNREAD: PayloadPlace = { kinds: new Set(), at: () => UNREAD };

/** A schema that another one refers to. */
export interface SchemaReference {
  /** As the referring schema names it: a full name of Avro, the path of a Protobuf import, a `$ref` of JSON Schema. */
  readonly name: string;
  readonly text: string;
}

export interface DecoderOptions {
  /** Name of a key in the payload. Called once for each field of a schema, when it is compiled; keys of maps are data and stay as they are. */
  readonly nameOf: (key: string) => string;
  readonly shape: PayloadPlace;
  readonly limits: RecordLimits;
  /** Called for each number that JSON cannot print (NaN, Infinity) and that became null. */
  readonly onOverflow: () => void;
  /** True if records of Protobuf name their message as those of AWS Glue do. */
  readonly isOfGlue?: boolean;
}

/** The keys that payloads of a schema can have at one place. Schemas may contain themselves, so this is read step by step. */
export interface SchemaFields {
  /** Named for the payload. undefined: any key is possible, as in a map. */
  readonly keys: readonly string[] | undefined;
  /** The place that a key leads to; of a list, the place below its items. undefined: no object. */
  at(key: string): SchemaFields | undefined;
}

/** A compiled schema of the producers of a topic. */
export interface Decoder {
  readonly fields: SchemaFields;
  /** True: records may have others, which the schema does not describe, or which a message has that `fields` leaves out. */
  readonly mayHaveOthers?: boolean;
  /**
   * The payload, whose keys have their final names, and which JSON.stringify prints exactly.
   * @param bytes without the header that names the schema; of Protobuf, they begin with the indexes of the message. Not kept.
   * @throws UndecodableError
   */
  decode(bytes: Buffer): Record<string, unknown>;
  /** The key of a record. As `decode`, but Avro may have any value there, such as a string. */
  decodeKey(bytes: Buffer): unknown;
}

/**
 * Compiles the text of a schema.
 * @param references every schema that it refers to, also indirectly: a schema comes after those that it refers to.
 * @throws Error if the schema cannot be used; the message says why
 */
export type CompileSchema = (text: string, references: readonly SchemaReference[], options: DecoderOptions) => Decoder;

/** A header that names the schema, and the body that the schema describes. */
export interface FramedDecoding {
  /** Offset of the body. */
  readonly bodyAt: number;
  /** Of the body; undefined: it is JSON text. */
  readonly decoder: Decoder | undefined;
}

/**
 * How a record's bytes become a payload. `json`: they are JSON text as a whole. Text takes the path of JSON, which is faster than any
 * decoder. A function makes the JSON text.
 */
export type RecordDecoding = 'json' | FramedDecoding | ((bytes: Buffer) => Buffer);

/** The part of a record that is decoded. The names of the headers for its schema differ. */
export type RecordPart = 'key' | 'value';

/**
 * Longest wait of a batch for what its next record needs, in ms: kafkajs reads no other partition of the broker meanwhile. Then only its partition
 * waits. The load goes on, and a later retry finds its result.
 */
export const PATIENCE_MS = 500;

/** How the values of one topic become payloads, or its keys. */
export interface RecordDecoders {
  /**
   * A promise while something is loaded.
   * @param bytes of the value, or of the key
   * @param headers of the record
   * @throws UndecodableError, SchemaUnavailableError, also as a rejection
   */
  of(bytes: Buffer, headers: RecordHeaders | undefined): RecordDecoding | Promise<RecordDecoding>;
}

/** How the keys of one topic are decoded. */
export interface KeyDecoders extends RecordDecoders {
  /** True if a key begins with a header that names a schema. @param value of the same record */
  nameSchema(key: Buffer, value: Buffer | null): boolean;
}

/** A record cannot become a payload. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
  readonly code = 'ERR_UNDECODABLE';
  /** A metric label, and the header of the dead letter. */
  readonly reason: DecodeReason;

  constructor(reason: DecodeReason, options?: ErrorOptions) {
    super(`a record cannot be decoded: ${reason}`, options);
    this.reason = reason;
  }
}
