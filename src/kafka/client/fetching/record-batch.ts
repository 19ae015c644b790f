import type { Buffer } from 'node:buffer';
import type { KafkaMessage } from 'kafkajs';
import type { PoisonReason, RecordHeaders } from '../../batch.ts';

/** Bytes of a batch before its records: https://kafka.apache.org/41/implementation/message-format/ */
const HEADER_BYTES = 61;
/** Bytes of a batch that its length field does not count. */
const LENGTH_END = 12;
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const COMPRESSION_MASK = 0x07;
const LOG_APPEND_TIME_FLAG = 0x08;
const TRANSACTIONAL_FLAG = 0x10;
const CONTROL_FLAG = 0x20;

const NO_HEADERS: RecordHeaders = Object.freeze({});

/** A record, with the fields that kafkajs reads before it passes it to consumers. */
export interface FetchedRecord {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** kafkajs, which has text here, reads a number, too. */
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
  readonly isControlRecord: boolean;
  /** Set on a placeholder for a record of a batch that cannot be inflated or decoded. */
  readonly poison?: PoisonReason;
}

/** The records of a batch to decode. */
export interface RecordRange {
  /** Lowest offset. */
  readonly from: number;
  /** Maximum number of records. */
  readonly count: number;
}

/** Records of a batch, and where those after them are. */
export interface RecordsRead {
  readonly records: FetchedRecord[];
  readonly next: RecordPlace;
}

/** A place between two records of a batch. */
export interface RecordPlace {
  /** Records before it. */
  readonly index: number;
  /** Its byte in the inflated data. */
  readonly at: number;
}

const FIRST_RECORD: RecordPlace = { index: 0, at: 0 };

/** The bytes are not a valid record batch. */
export class CorruptBatchError extends Error {
  override readonly name = 'CorruptBatchError';
}

/** One record batch of a fetch response. Offsets and timestamps are exact up to 2^53. */
export class RecordBatch {
  readonly baseOffset: number;
  /** Offset of the last record, even if compaction has removed it. */
  readonly lastOffset: number;
  /** Number of records in the batch header. */
  readonly recordCount: number;
  /** Codec number; 0: not compressed. */
  readonly compression: number;
  /** The records as they are in the batch, possibly compressed. */
  readonly data: Buffer;
  /** True for a control batch: its record is a marker of Kafka that ends a transaction. */
  readonly isControl: boolean;
  readonly producerId: string;
  readonly inTransaction: boolean;
  readonly #firstTimestamp: number;
  readonly #appendTimestamp: number | undefined;

  constructor(bytes: Buffer) {
    const attributes = bytes.readInt16BE(21);
    this.baseOffset = Number(bytes.readBigInt64BE(0));
    this.lastOffset = this.baseOffset + Math.max(0, bytes.readInt32BE(23));
    this.recordCount = bytes.readInt32BE(57);
    this.compression = attributes & COMPRESSION_MASK;
    this.data = bytes.subarray(HEADER_BYTES);
    this.#firstTimestamp = Number(bytes.readBigInt64BE(27));
    this.#appendTimestamp = attributes & LOG_APPEND_TIME_FLAG ? Number(bytes.readBigInt64BE(35)) : undefined;
    this.isControl = (attributes & CONTROL_FLAG) !== 0;
    this.producerId = `${bytes.readBigInt64BE(43)}`;
    this.inTransaction = (attributes & TRANSACTIONAL_FLAG) !== 0;
  }

  /**
   * The records within a range. `data` is this batch's `data`, inflated. The records' buffers are slices of it.
   * @param start all records before it are before the range
   * @throws CorruptBatchError
   */
  records(data: Buffer, { from, count }: RecordRange, start = FIRST_RECORD): RecordsRead {
    const reader = new Reader(data);
    reader.at = start.at;
    const records: FetchedRecord[] = [];
    let { index } = start;
    for (; index < this.recordCount && records.length < count; index++) {
      const length = reader.varint();
      const end = reader.at + length;
      if (length < 0 || end > data.length) throw new CorruptBatchError('a record is cut off');
      // Attributes: no version has any.
      reader.byte();
      const timestampDelta = reader.varint();
      const offset = this.baseOffset + reader.varint();
      if (offset >= from) {
        const key = reader.bytes();
        const value = reader.bytes();
        records.push({
          timestamp: this.#appendTimestamp ?? this.#firstTimestamp + timestampDelta,
          offset,
          key,
          value,
          headers: headersOf(reader),
          isControlRecord: this.isControl,
        });
        if (reader.at > end) throw new CorruptBatchError('a record is longer than it says');
      }
      reader.at = end;
    }
    return { records, next: { index, at: reader.at } };
  }

  /** Placeholder records for a range. If compaction has left gaps, their offsets may differ from those of the records. */
  placeholders(poison: PoisonReason, { from, count }: RecordRange): FetchedRecord[] {
    const total = Math.min(Math.max(1, this.recordCount), this.lastOffset - this.baseOffset + 1);
    const records: FetchedRecord[] = [];
    for (let i = Math.min(Math.max(0, from - this.baseOffset), total - 1); i < total && records.length < count; i++) {
      const offset = i === total - 1 ? this.lastOffset : this.baseOffset + i;
      records.push({ ...this.#emptyRecord(offset), isControlRecord: this.isControl, poison });
    }
    return records;
  }

  /**
   * A control record at the end of this batch, which kafkajs skips. It makes the next fetch start after the batch, even if compaction has
   * removed the last records.
   */
  end(): FetchedRecord {
    return { ...this.#emptyRecord(this.lastOffset), isControlRecord: true };
  }

  #emptyRecord(offset: number): Omit<FetchedRecord, 'isControlRecord'> {
    return {
      timestamp: this.#appendTimestamp ?? this.#firstTimestamp,
      offset,
      key: null,
      value: null,
      headers: NO_HEADERS,
    };
  }
}

/** The batches of one partition in a fetch response. Omits a truncated last batch. */
export function* batchesOf(records: Buffer): Generator<RecordBatch, void, void> {
  for (let at = 0; at + HEADER_BYTES <= records.length;) {
    const end = at + LENGTH_END + records.readInt32BE(at + LENGTH_AT);
    // Another format: the next fetch starts here.
    if (end < at + HEADER_BYTES || end > records.length || !isRecordBatch(records.subarray(at))) return;
    yield new RecordBatch(records.subarray(at, end));
    at = end;
  }
}

/** True if the bytes start with a record batch (the format since Kafka 0.11), false for a message set. */
export function isRecordBatch(records: Buffer): boolean {
  return records.length > MAGIC_AT && records[MAGIC_AT] === 2;
}

/** Records that kafkajs hands on as they were decoded here. */
export function fetched(messages: readonly KafkaMessage[]): readonly FetchedRecord[] {
  return messages as unknown as readonly FetchedRecord[];
}

function headersOf(reader: Reader): RecordHeaders {
  const count = reader.varint();
  if (count <= 0) return NO_HEADERS;
  const headers: Record<string, RecordHeaders[string]> = {};
  for (let i = 0; i < count; i++) {
    const name = reader.bytes()?.toString('utf8') ?? '';
    const value = reader.bytes() as Buffer;
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (Array.isArray(before)) before.push(value);
    else define(headers, name, before === undefined ? value : [before, value]);
  }
  return headers;
}

/** Defines an own property, even for `__proto__`. */
function define(headers: Record<string, RecordHeaders[string]>, name: string, value: RecordHeaders[string]): void {
  if (name !== '__proto__') headers[name] = value;
  else Object.defineProperty(headers, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Reads the primitive types of the record format. */
class Reader {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new CorruptBatchError('the records are cut off');
    return byte;
  }

  /** Reads a zigzag varint of at most 64 bits; exact up to 2^53. */
  varint(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    for (let factor = 0x80; byte > 0x7f; factor *= 0x80) {
      if (factor > 2 ** 63) throw new CorruptBatchError('a number has more than 64 bits');
      byte = this.byte();
      value += (byte & 0x7f) * factor;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Null if the length is -1. */
  bytes(): Buffer | null {
    const length = this.varint();
    if (length < 0) return null;
    const end = this.at + length;
    if (end > this.#bytes.length) throw new CorruptBatchError('a field is cut off');
    const bytes = this.#bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}
