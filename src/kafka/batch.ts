import type { IHeaders } from 'kafkajs';
import { TOMBSTONE } from '../bus/bus-message.ts';
import type { Message } from '../bus/bus-message.ts';
import type { RecordTraces } from '../ops/tracing/record-traces.ts';
import type { ActiveSpan } from '../ops/tracing/spans.ts';
import type { DecodeReason } from './decoding/record.ts';
import { SchemaUnavailableError } from './decoding/schema-errors.ts';

/** A record as Kafka carries it. Its buffers are slices of a whole fetch response: copy them to keep them. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  /** A 64-bit number in decimal. */
  readonly offset: string;
  /** Milliseconds since the epoch, in decimal. */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: IHeaders | undefined;
  /** Set before decoding if the record is a placeholder for a record of a batch that cannot be inflated or decoded. */
  readonly poison?: PoisonReason | undefined;
}

/** What a payload and its channels are made of. */
export type RecordContent = Pick<KafkaRecord, 'topic' | 'key' | 'value' | 'headers'>;

/** `failed`: crier's code threw on the record; `batch_…`: its batch cannot be inflated or decoded. */
export type PoisonReason = DecodeReason | 'failed' | 'batch_too_large' | 'batch_corrupt';

export interface PoisonRecord {
  readonly record: KafkaRecord;
  readonly reason: PoisonReason;
}

/** A channel, the limits of its history, and what its state remembers of the record's key. */
export type Destination = Pick<Message, 'channel' | 'history' | 'keyHash' | 'isDeparture'>;

/** Exactly one of `destinations` and `poison` is set. */
export type Conversion =
  | {
      /** The snake_cased payload as JSON.stringify prints it; `null` of a record without a value; '' if it has no destinations. */
      readonly payload: string;
      /** Empty if no subscription field is bound to the record. */
      readonly destinations: readonly Destination[];
      readonly poison?: undefined;
    }
  | { readonly poison: DecodeReason; readonly payload?: undefined; readonly destinations?: undefined };

export interface BatchPorts {
  /**
   * Converts a record to its payload and destinations, or to the reason why it is poison. A promise only while its schema is fetched.
   * @throws SchemaUnavailableError, also as a rejection
   */
  readonly convert: (record: RecordContent) => Conversion | Promise<Conversion>;
  /** What the messages of a record carry of its key and headers; undefined: nothing. Absent: none carries any. */
  readonly printParts?: ((record: RecordContent) => string | undefined) | undefined;
  /** undefined: no record is traced. */
  readonly traces?: RecordTraces | undefined;
}

/** Records that are published with one call. */
export interface Chunk {
  readonly messages: readonly Message[];
  readonly poison: readonly PoisonRecord[];
  readonly recordCount: number;
  /** Bytes of the records' values. */
  readonly recordBytes: number;
  /** Undecodable records before the first decodable one. Tombstones and records of a batch that cannot be read are neither. */
  readonly undecodable: number;
  readonly hasDecodable: boolean;
  /** The last record of this chunk. */
  readonly last: KafkaRecord;
  /** The last record before this chunk's first poison record; undefined: the chunk begins with poison, or has none. */
  readonly lastBeforePoison: KafkaRecord | undefined;
  /** Of the sampled records without the poison ones. Absent if there are none. */
  readonly spans?: readonly ActiveSpan[];
}

/** The first limit that is reached ends a chunk. A record is never split. */
export interface ChunkLimits {
  readonly messages: number;
  /** Bytes of payload text, counted once per channel, and of poison values. */
  readonly bytes: number;
}

/** About 20 ms of decoding: neither heartbeats nor sockets wait for a huge batch. */
export const CHUNK_LIMITS: ChunkLimits = { messages: 1000, bytes: 1_048_576 };

/** Called with the first record of each chunk; undefined ends the chunks before it. */
export type LimitsOf = (first: KafkaRecord) => ChunkLimits | undefined | Promise<ChunkLimits | undefined>;

/**
 * The chunks of a batch, in order. Lazy: each is computed when it is read.
 * @throws SchemaUnavailableError after the chunk of the records before the one whose schema is not to be had
 */
export async function* chunksOf(
  records: Iterable<KafkaRecord>,
  ports: BatchPorts,
  limitsOf: LimitsOf = () => CHUNK_LIMITS,
): AsyncGenerator<Chunk, void, void> {
  let limits: ChunkLimits | undefined;
  let messages: Message[] = [];
  let poison: PoisonRecord[] = [];
  let recordCount = 0;
  let recordBytes = 0;
  let bytes = 0;
  let last: KafkaRecord | undefined;
  let lastBeforePoison: KafkaRecord | undefined;
  let spans: ActiveSpan[] | undefined;
  let undecodable = 0;
  let hasDecodable = false;
  let unavailable: SchemaUnavailableError | undefined;
  for (const record of records) {
    if (!limits) {
      limits = await limitsOf(record);
      if (!limits) return;
    }
    const span = ports.traces?.startRecord(record);
    let outcome = messagesOf(record, ports, span);
    if (outcome instanceof Promise) {
      const awaited = await outcome;
      if (awaited instanceof SchemaUnavailableError) {
        span?.fail(awaited.code);
        unavailable = awaited;
        break;
      }
      outcome = awaited;
    }
    if (typeof outcome === 'string') {
      span?.fail(outcome);
      if (poison.length === 0) lastBeforePoison = last;
      if (!hasDecodable && record.poison === undefined) undecodable++;
      poison.push({ record, reason: outcome });
      bytes += record.value?.length ?? 0;
    } else {
      if (record.value !== null) hasDecodable = true;
      if (span) (spans ??= []).push(span);
      messages.push(...outcome);
      bytes += outcome.length * bytesOf(outcome.at(-1));
    }
    recordCount++;
    recordBytes += record.value?.length ?? 0;
    last = record;
    if (messages.length + poison.length >= limits.messages || bytes >= limits.bytes) {
      const counts = { recordCount, recordBytes, undecodable, hasDecodable };
      yield { messages, poison, ...counts, last, lastBeforePoison, ...(spans && { spans }) };
      limits = undefined;
      messages = [];
      poison = [];
      recordCount = 0;
      recordBytes = 0;
      undecodable = 0;
      hasDecodable = false;
      bytes = 0;
      last = undefined;
      lastBeforePoison = undefined;
      spans = undefined;
    }
  }
  const counts = { recordCount, recordBytes, undecodable, hasDecodable };
  if (last) yield { messages, poison, ...counts, last, lastBeforePoison, ...(spans && { spans }) };
  if (unavailable) throw unavailable;
}

/** Counted in UTF-16 code units. */
function bytesOf(message: Message | undefined): number {
  return message ? message.payload.length + (message.record?.length ?? 0) : 0;
}

/** A record's messages, which share one payload string, or the reason why it is poison. */
type Outcome = Message[] | PoisonReason;

function messagesOf(
  record: KafkaRecord,
  { convert, printParts }: BatchPorts,
  span: ActiveSpan | undefined,
): Outcome | Promise<Outcome | SchemaUnavailableError> {
  if (record.poison !== undefined) return record.poison;
  try {
    const conversion = convert(record);
    return conversion instanceof Promise
      ? conversion.then((awaited) => outcomeOf(record, awaited, span, printParts)).catch(withoutSchema)
      : outcomeOf(record, conversion, span, printParts);
  } catch {
    // Deterministic: a retry would throw again, and block the partition for ever.
    return 'failed';
  }
}

function outcomeOf(
  source: KafkaRecord,
  conversion: Conversion,
  span: ActiveSpan | undefined,
  printParts: BatchPorts['printParts'],
): Outcome {
  if (conversion.poison !== undefined) return conversion.poison;
  const { payload, destinations } = conversion;
  const { offset, timestamp } = source;
  const origin = { offset: Number(offset), timestamp: Number(timestamp), ...(span && { trace: span.context }) };
  const messages = destinations.map(({ channel, history, keyHash, isDeparture }) => ({
    channel,
    payload: isDeparture ? TOMBSTONE : payload,
    ...origin,
    history,
    ...(keyHash !== undefined && { keyHash }),
    ...(isDeparture && { isDeparture }),
  }));
  if (!printParts || messages.length === 0) return messages;
  const record = printParts(source);
  if (record === undefined) return messages;
  // What the record carries is not for the channels that it leaves.
  return messages.map((message) => (message.isDeparture ? message : { ...message, record }));
}

function withoutSchema(error: unknown): PoisonReason | SchemaUnavailableError {
  return error instanceof SchemaUnavailableError ? error : 'failed';
}
