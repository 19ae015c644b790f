import type { PoisonReason } from '../batch.ts';
import { CorruptBatchError } from './record-batch.ts';
import type { FetchedRecord, RecordRange } from './record-batch.ts';

/** Offset and size of an entry. The size field does not count them. */
const PREFIX_BYTES = 12;
const SIZE_AT = 8;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 17;
const TIMESTAMP_AT = 18;
/** Size of an entry with empty fields, by magic byte. */
const MIN_BYTES = [PREFIX_BYTES + 14, PREFIX_BYTES + 22] as const;
const COMPRESSION_MASK = 0x07;
const LOG_APPEND_TIME_FLAG = 0x08;
/** Kafka's value for a record without a timestamp. */
const NO_TIMESTAMP = '-1';

/**
 * One entry of a message set, the format before Kafka 0.11: a record, or a wrapper whose value is a compressed message set.
 * https://kafka.apache.org/41/implementation/message-format/
 */
export class MessageSetEntry {
  /** Offset of the record; of a wrapper: of its last record. */
  readonly offset: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.offset = Number(bytes.readBigInt64BE(0));
  }

  /** Size in bytes, prefix included. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Codec number; 0: the entry is a record, not a wrapper. */
  get compression(): number {
    return this.#attributes & COMPRESSION_MASK;
  }

  /** @throws CorruptBatchError */
  get key(): Buffer | null {
    return this.#field(this.#fieldsAt);
  }

  /**
   * Value of a record; of a wrapper: its compressed message set.
   * @throws CorruptBatchError
   */
  get value(): Buffer | null {
    return this.#field(this.#fieldsAt + 4 + (this.key?.length ?? 0));
  }

  /** @throws CorruptBatchError */
  record(): FetchedRecord {
    const { key, value } = this;
    return { ...this.#emptyRecord(), key, value };
  }

  /**
   * The records of a wrapper within a range. `data` is the inflated value, of which the records' buffers are slices.
   * @throws CorruptBatchError
   */
  records(data: Buffer, { from, count }: RecordRange): FetchedRecord[] {
    let last: MessageSetEntry | undefined;
    let bytes = 0;
    for (const entry of entriesOf(data)) {
      last = entry;
      bytes += entry.length;
    }
    if (!last || bytes < data.length) throw new CorruptBatchError('a message set is cut off');
    // Since magic byte 1, offsets in a wrapper are relative.
    const base = this.#magic === 0 ? 0 : this.offset - last.offset;
    const timestamp = this.#attributes & LOG_APPEND_TIME_FLAG ? this.#timestamp : undefined;
    const records: FetchedRecord[] = [];
    for (const entry of entriesOf(data)) {
      if (records.length === count) break;
      const offset = base + entry.offset;
      if (offset < from) continue;
      const record = entry.record();
      records.push({ ...record, offset: `${offset}`, timestamp: timestamp ?? record.timestamp });
    }
    return records;
  }

  /** A placeholder record for the entry. The records of a wrapper cannot be counted: one placeholder at its last offset stands for them. */
  placeholder(poison: PoisonReason): FetchedRecord {
    return { ...this.#emptyRecord(), poison };
  }

  get #magic(): 0 | 1 {
    return this.#bytes[MAGIC_AT] === 0 ? 0 : 1;
  }

  get #attributes(): number {
    return this.#bytes[ATTRIBUTES_AT] ?? 0;
  }

  get #timestamp(): string {
    if (this.#magic === 0 || this.length < MIN_BYTES[1]) return NO_TIMESTAMP;
    return `${this.#bytes.readBigInt64BE(TIMESTAMP_AT)}`;
  }

  get #fieldsAt(): number {
    return this.#magic === 0 ? TIMESTAMP_AT : TIMESTAMP_AT + 8;
  }

  #field(at: number): Buffer | null {
    if (this.length < MIN_BYTES[this.#magic] || at + 4 > this.length) throw new CorruptBatchError('no fields');
    const length = this.#bytes.readInt32BE(at);
    if (length < 0) return null;
    if (at + 4 + length > this.length) throw new CorruptBatchError('a field is cut off');
    return this.#bytes.subarray(at + 4, at + 4 + length);
  }

  #emptyRecord(): FetchedRecord {
    return {
      magicByte: this.#magic,
      attributes: this.#attributes,
      timestamp: this.#timestamp,
      offset: `${this.offset}`,
      key: null,
      value: null,
      headers: {},
      isControlRecord: false,
      batchContext: { producerId: '-1', inTransaction: false },
    };
  }
}

/** The entries of a message set. Omits a truncated last entry, and everything after a change of format. */
export function* entriesOf(bytes: Buffer): Generator<MessageSetEntry, void, void> {
  for (let at = 0; at + PREFIX_BYTES <= bytes.length;) {
    const end = at + PREFIX_BYTES + Math.max(0, bytes.readInt32BE(at + SIZE_AT));
    const isOther = at + MAGIC_AT < end && bytes[at + MAGIC_AT]! > 1;
    if (end > bytes.length || isOther) return;
    yield new MessageSetEntry(bytes.subarray(at, end));
    at = end;
  }
}
