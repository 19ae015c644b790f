import type { Buffer } from 'node:buffer';
import { isRecordBatch } from './record-batch.ts';
import type { FetchedRecord, RecordRange } from './record-batch.ts';

/** Offset and size of an entry. The size does not count them. */
const PREFIX_BYTES = 12;
const SIZE_AT = 8;

const PLACEHOLDER: Omit<FetchedRecord, 'offset'> = {
  timestamp: -1,
  key: null,
  value: null,
  headers: {},
  isControlRecord: false,
  poison: 'unsupported_record_format',
};

/**
 * Placeholders for records of the format before Kafka 0.11, which an old segment may still have: one for each record, and one for each
 * compressed set of records, at the offset of its last. Omits a truncated last entry, and everything after a change of format.
 */
export function oldRecords(bytes: Buffer, { from, count }: RecordRange): FetchedRecord[] {
  const records: FetchedRecord[] = [];
  for (let at = 0; at + PREFIX_BYTES <= bytes.length && records.length < count;) {
    const end = at + PREFIX_BYTES + Math.max(0, bytes.readInt32BE(at + SIZE_AT));
    if (end > bytes.length || isRecordBatch(bytes.subarray(at, end))) break;
    const offset = Number(bytes.readBigInt64BE(at));
    if (offset >= from) records.push({ ...PLACEHOLDER, offset });
    at = end;
  }
  return records;
}
