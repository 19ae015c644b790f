import { randomUUID } from 'node:crypto';
import type { IHeaders } from 'kafkajs';
import type { PoisonReason } from './batch.ts';

/** What kafkajs asks of a codec. */
export interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(data: Buffer): Promise<Buffer>;
}

/** Unknown outside this process, so that no producer can pass a record off as undecodable. */
const HEADER = `crier-undecodable-${randomUUID()}`;
/** kafkajs makes an object for each record; a batch that claims more stays an error. */
const MAX_RECORDS = 100_000;

// The part of a record batch that stands before its records: https://kafka.apache.org/41/implementation/message-format/
const HEADER_BYTES = 49;
const MAGIC_AT = 4;
const LAST_OFFSET_DELTA_AT = 11;
const RECORD_COUNT_AT = 45;
const MAGIC = 2;

/**
 * A codec whose failures cost one batch, not the consumer. kafkajs inflates inside its fetch and knows nothing but to
 * fetch again: a batch that cannot be inflated would hold up every partition of its broker for ever. Here it comes
 * out as records without key and value, marked for `undecodableReason`, which go the way of all poison.
 *
 * Their number and last offset are right; where compaction left gaps, offsets between may be not.
 * @throws what `codec` threw, for a batch of more than 100,000 records.
 */
export function salvaging(codec: Codec): Codec {
  return {
    compress: (encoder) => codec.compress(encoder),
    decompress: async (data) => {
      try {
        return await codec.decompress(data);
      } catch (error) {
        const records = placeholders(data, reasonOf(error));
        if (!records) throw error;
        return records;
      }
    },
  };
}

/** Why a record stands for one of a batch that could not be inflated; undefined for any other record. */
export function undecodableReason(headers: IHeaders | undefined): PoisonReason | undefined {
  const reason = headers?.[HEADER];
  return reason === undefined ? undefined : (String(reason) as PoisonReason);
}

function reasonOf(error: unknown): PoisonReason {
  const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BATCH_TOO_LARGE';
  return isTooLarge ? 'batch_too_large' : 'batch_corrupt';
}

/** kafkajs passes a view into the whole batch, so the header stands just before `data`. */
function placeholders(data: Buffer, reason: PoisonReason): Buffer | undefined {
  if (data.byteOffset < HEADER_BYTES) return undefined;
  const header = Buffer.from(data.buffer, data.byteOffset - HEADER_BYTES, HEADER_BYTES);
  const count = header.readInt32BE(RECORD_COUNT_AT);
  if (header.readInt8(MAGIC_AT) !== MAGIC || count < 1 || count > MAX_RECORDS) return undefined;
  const lastDelta = header.readInt32BE(LAST_OFFSET_DELTA_AT);
  const tail = Buffer.concat([
    // No key, no value, one header.
    Buffer.from([...varint(-1), ...varint(-1), ...varint(1)]),
    field(HEADER),
    field(reason),
  ]);
  const records: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    // Attributes, and the timestamp of the batch.
    const head = Buffer.from([0, ...varint(0), ...varint(i === count - 1 ? lastDelta : i)]);
    records.push(Buffer.from(varint(head.length + tail.length)), head, tail);
  }
  return Buffer.concat(records);
}

function field(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(varint(bytes.length)), bytes]);
}

/** Zigzag, seven bits to a byte, the lowest first. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return bytes;
}
