import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { IHeaders } from 'kafkajs';

const require = createRequire(import.meta.url);
const Record = require('kafkajs/src/protocol/recordBatch/record/v0') as (parts: object) => { buffer: Buffer };
const KafkajsDecoder = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => object;
const decodeBatch = require('kafkajs/src/protocol/recordBatch/v0/decoder') as (
  of: object,
) => Promise<{ records: object[] }>;

export interface EncodedRecord {
  readonly offsetDelta: number;
  readonly timestampDelta?: number;
  readonly key?: Buffer | null;
  readonly value?: Buffer | null;
  readonly headers?: IHeaders;
}

export interface EncodedBatch {
  readonly baseOffset?: number;
  readonly lastOffsetDelta?: number;
  readonly attributes?: number;
  readonly recordCount?: number;
  readonly producerId?: number;
  /** The records as they stand in the batch; not given: the encoded ones. */
  readonly data?: Buffer;
}

const GZIP = 1;

export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

export function encodedRecord({ timestampDelta = 0, ...parts }: EncodedRecord): Buffer {
  return Record({ key: null, value: null, ...parts, timestampDelta }).buffer;
}

/** A record batch, as a broker sends it. */
export function encodedBatch(records: readonly EncodedRecord[], options: EncodedBatch = {}): Buffer {
  const { baseOffset = 0, attributes = 0, recordCount = records.length } = options;
  const plain = Buffer.concat(records.map(encodedRecord));
  const data = options.data ?? (attributes & GZIP ? gzipSync(plain) : plain);
  const header = Buffer.alloc(61);
  header.writeBigInt64BE(BigInt(baseOffset), 0);
  header.writeInt32BE(49 + data.length, 8);
  header.writeInt8(2, 16);
  header.writeInt16BE(attributes, 21);
  header.writeInt32BE(options.lastOffsetDelta ?? records.at(-1)?.offsetDelta ?? 0, 23);
  header.writeBigInt64BE(1_700_000_000_000n, 27);
  header.writeBigInt64BE(1_700_000_001_000n, 35);
  header.writeBigInt64BE(BigInt(options.producerId ?? 7), 43);
  header.writeInt32BE(recordCount, 57);
  return Buffer.concat([header, data]);
}

export interface EncodedMessage {
  readonly offset: number;
  readonly magic?: 0 | 1;
  readonly attributes?: number;
  readonly key?: Buffer;
  readonly value: Buffer;
}

/** A record of the format of before Kafka 0.11, or a compressed set of them. */
export function encodedMessage({ offset, magic = 1, attributes = 0, key, value }: EncodedMessage): Buffer {
  const header = Buffer.alloc(magic === 0 ? 18 : 26);
  const fields = [key, value].flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field?.length ?? -1);
    return field ? [length, field] : [length];
  });
  const bytes = Buffer.concat([header, ...fields]);
  bytes.writeBigInt64BE(BigInt(offset), 0);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt8(magic, 16);
  bytes.writeInt8(attributes, 17);
  if (magic > 0) bytes.writeBigInt64BE(1_500_000_000_000n + BigInt(offset), 18);
  return bytes;
}

/** What kafkajs itself makes of a batch. */
export async function kafkajsRecords(batch: Buffer): Promise<object[]> {
  return (await decodeBatch(new KafkajsDecoder(batch))).records;
}

/** A fetch response of version 11 with the records of some partitions. */
export function encodedResponse(
  partitions: readonly { topic: string; partition: number; records: Buffer; aborted?: readonly AbortedTransaction[] }[],
): Buffer {
  const int = (bytes: 2 | 4 | 8, value: number) => {
    const buffer = Buffer.alloc(bytes);
    if (bytes === 8) buffer.writeBigInt64BE(BigInt(value));
    else buffer.writeIntBE(value, 0, bytes);
    return buffer;
  };
  const topics = partitions.map(({ topic, partition, records, aborted = [] }) => [
    int(2, Buffer.byteLength(topic)),
    Buffer.from(topic),
    int(4, 1),
    int(4, partition),
    int(2, 0),
    int(8, 100),
    int(8, 99),
    int(8, 0),
    int(4, aborted.length),
    ...aborted.flatMap(({ producerId, firstOffset }) => [int(8, producerId), int(8, firstOffset)]),
    int(4, -1),
    int(4, records.length),
    records,
  ]);
  return Buffer.concat([int(4, 5), int(2, 0), int(4, 0), int(4, topics.length), ...topics.flat()]);
}

/** What kafkajs itself makes of a fetch response of version 11. */
export function kafkajsResponse(payload: Buffer): Promise<object> {
  const { decode } = require('kafkajs/src/protocol/requests/fetch/v11/response') as {
    decode: (payload: Buffer) => Promise<object>;
  };
  return decode(payload);
}
