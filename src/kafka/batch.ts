import { BusUnavailableError } from '../base/errors.ts';
import { STATES_OF_KEY, TOMBSTONE } from '../bus/bus-message.ts';
import type { ChannelMessage } from '../bus/bus-message.ts';
import type { RecordTraces } from '../ops/tracing/record-traces.ts';
import type { ActiveSpan } from '../ops/tracing/spans.ts';
import type { DecodeReason } from './decoding/record.ts';
import { SchemaUnavailableError } from './decoding/schema-errors.ts';

/** A name that a record has several times has a list. */
export type RecordHeaders = Readonly<Record<string, HeaderValue | HeaderValue[] | undefined>>;

type HeaderValue = Buffer | string;

/** A record as Kafka carries it. Its buffers are slices of a whole fetch response: copy them to keep them. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders | undefined;
  /** Set before decoding if the record is a placeholder for a record of a batch that cannot be inflated or decoded. */
  readonly poison?: PoisonReason | undefined;
}

/** What a payload and its channels are made of. */
export interface RecordContent extends Pick<KafkaRecord, 'topic' | 'key' | 'value' | 'headers'> {
  /** The decoded key (`RecordKeys`). undefined: the key is what its bytes are, could not be decoded, or no field of the topic needs it. */
  readonly keyValue?: unknown;
  /** Why a key with a schema could not be decoded. */
  readonly keyProblem?: DecodeReason | undefined;
}

/**
 * `failed`: crier's code threw on the record; `batch_…`: its batch cannot be inflated or decoded; `unsupported_record_format`: Kafka before 0.11
 * has written it.
 */
export type PoisonReason = DecodeReason | 'failed' | 'batch_too_large' | 'batch_corrupt' | 'unsupported_record_format';

export interface PoisonRecord {
  readonly record: KafkaRecord;
  readonly reason: PoisonReason;
}

/** The fields by which the log names a poison record. */
export function poisonFields({ record: { topic, partition, offset }, reason }: PoisonRecord): object {
  return { topic, partition, offset: `${offset}`, reason };
}

/** A channel, the limits of its history, and what its state remembers of the record's key. `payload`: of this channel; absent: the record's. */
export type Destination = Pick<ChannelMessage, 'channel' | 'history' | 'keyHash' | 'isDeparture'> &
  Partial<Pick<ChannelMessage, 'payload'>> & {
    /** True: the record moves its row out of the channel. */
    readonly isLeft?: boolean;
  };

/** Exactly one of `destinations` and `poison` is set. */
export type Conversion =
  | {
      /** The snake_cased payload as JSON.stringify prints it, or the bytes of that text; `null` of a record without a value; '' if it has no destinations. */
      readonly payload: string | Buffer;
      /** Empty if no subscription field is bound to the record. */
      readonly destinations: readonly Destination[];
      /** The record with its key decoded. Absent: no field of the topic needs it, or the key is what its bytes are. */
      readonly content?: RecordContent;
      readonly poison?: undefined;
    }
  | {
      readonly poison: DecodeReason;
      readonly payload?: undefined;
      readonly destinations?: undefined;
      readonly content?: undefined;
    };

/** The conversion of a record that needs the last message of a channel. */
export class PendingConversion {
  readonly channel: string;
  /** Reads the message and converts the record. To be called once every message of the channel is published. @throws BusUnavailableError as a rejection */
  readonly finish: () => Promise<Conversion>;

  constructor(channel: string, finish: () => Promise<Conversion>) {
    this.channel = channel;
    this.finish = finish;
  }
}

export type Converted = Conversion | PendingConversion;

export interface BatchPorts {
  /**
   * Converts a record to its payload and destinations, or to the reason why it is poison. A promise only while its schema is fetched.
   * @throws SchemaUnavailableError, also as a rejection
   */
  readonly convert: (record: RecordContent) => Converted | Promise<Converted>;
  /**
   * What the messages of a record carry of its key and headers; undefined: nothing. `isLeft`: for channels that the record leaves.
   * Absent: no message carries any.
   */
  readonly printParts?: ((record: RecordContent, isLeft: boolean) => string | undefined) | undefined;
  /** undefined: no record is traced. */
  readonly traces?: RecordTraces | undefined;
}

/** The first limit that is reached ends a chunk. A record is never split. */
export interface ChunkLimits {
  readonly messages: number;
  /** Bytes of payload text, counted once per channel, and of poison values. */
  readonly bytes: number;
}

/** About 20 ms of decoding: neither heartbeats nor sockets wait for a huge batch. */
export const CHUNK_LIMITS: ChunkLimits = { messages: 1000, bytes: 1_048_576 };

/** Returns the limits of a chunk when the gateways have room for `room` bytes. */
export function limitsWithin(room: number): ChunkLimits {
  return { ...CHUNK_LIMITS, bytes: Math.min(room, CHUNK_LIMITS.bytes) };
}

/** Records that are published with one call. */
export class Chunk {
  readonly messages: ChannelMessage[] = [];
  readonly poison: PoisonRecord[] = [];
  recordCount = 0;
  /** Bytes of the records' values. */
  recordBytes = 0;
  /** Undecodable records before the first decodable one. Tombstones and records of a batch that cannot be read are neither. */
  undecodable = 0;
  hasDecodable = false;
  /** The last record of this chunk. */
  last: KafkaRecord;
  /** The last record before this chunk's first poison record; undefined: the chunk begins with poison, or has none. */
  lastBeforePoison: KafkaRecord | undefined;
  /** Of the sampled records without the poison ones. Absent if there are none. */
  spans?: ActiveSpan[];
  /** Start of its decoding, in ms since 1970. */
  readonly startedAt = Date.now();
  decodeMs = 0;
  /** Counts towards the limit. */
  #bytes = 0;

  constructor(first: KafkaRecord) {
    this.last = first;
  }

  /** True if the chunk has a message of the channel, or a tombstone that may be for its state. */
  hasMessageOf(channel: string): boolean {
    return this.messages.some((message) => message.channel === channel || message.channel === STATES_OF_KEY);
  }

  isFull({ messages, bytes }: ChunkLimits): boolean {
    return this.messages.length + this.poison.length >= messages || this.#bytes >= bytes;
  }

  /** `outcome`: its messages, or the reason why it is poison. */
  add(record: KafkaRecord, outcome: Outcome, span: ActiveSpan | undefined): void {
    const { poison, value } = record;
    if (typeof outcome === 'string') {
      span?.fail(outcome);
      if (this.poison.length === 0 && this.recordCount > 0) this.lastBeforePoison = this.last;
      if (!this.hasDecodable && poison === undefined) this.undecodable++;
      this.poison.push({ record, reason: outcome });
      this.#bytes += value?.length ?? 0;
    } else {
      if (value !== null) this.hasDecodable = true;
      if (span) (this.spans ??= []).push(span);
      this.messages.push(...outcome);
      for (const message of outcome) this.#bytes += bytesOf(message);
    }
    this.recordCount++;
    this.recordBytes += value?.length ?? 0;
    this.last = record;
  }
}

/** Cuts the records of one partition into chunks, in order. A record is decoded when its chunk is taken. */
export class Chunker {
  readonly #records: Iterator<KafkaRecord>;
  readonly #ports: BatchPorts;
  #next: KafkaRecord | undefined;
  #unavailable: UnavailableError | undefined;
  /** Of a record before which a chunk ended. */
  #span: ActiveSpan | undefined;

  constructor(records: Iterable<KafkaRecord>, ports: BatchPorts) {
    this.#records = records[Symbol.iterator]();
    this.#ports = ports;
    this.#advance();
  }

  /**
   * The first record of the next chunk; undefined: all records were taken.
   * @throws SchemaUnavailableError, BusUnavailableError of the record before which the last chunk ended
   */
  next(): KafkaRecord | undefined {
    if (this.#unavailable) throw this.#unavailable;
    return this.#next;
  }

  /**
   * Decodes the chunk that begins with `next`, which must not be undefined.
   * @throws SchemaUnavailableError, BusUnavailableError of that record; the chunk ends before any other that cannot be decoded now
   */
  async take(limits: ChunkLimits): Promise<Chunk> {
    const chunk = new Chunk(this.#next!);
    const since = performance.now();
    for (let record = this.#next; record && !chunk.isFull(limits); record = this.#advance()) {
      const span = this.#span ?? this.#ports.traces?.startRecord(record);
      this.#span = undefined;
      let outcome = messagesOf(record, this.#ports, span);
      if (outcome instanceof Promise) outcome = await outcome;
      if (outcome instanceof PendingConversion) {
        // It is converted again in the next chunk.
        if (chunk.hasMessageOf(outcome.channel)) {
          this.#span = span;
          break;
        }
        outcome = await finishedMessagesOf(record, outcome, this.#ports, span);
      }
      if (outcome instanceof Error) {
        span?.fail(outcome.code);
        this.#unavailable = outcome;
        break;
      }
      chunk.add(record, outcome, span);
    }
    if (this.#unavailable && chunk.recordCount === 0) throw this.#unavailable;
    chunk.decodeMs = performance.now() - since;
    return chunk;
  }

  #advance(): KafkaRecord | undefined {
    const { done, value } = this.#records.next() as IteratorResult<KafkaRecord, undefined>;
    return (this.#next = done ? undefined : value);
  }
}

/** Text is counted in UTF-16 code units. */
function bytesOf({ payload, record }: ChannelMessage): number {
  return payload.length + (record?.length ?? 0);
}

/** A record's messages, which share one payload, or the reason why it is poison. */
type Outcome = ChannelMessage[] | PoisonReason;
/** What a retry may mend. */
type UnavailableError = SchemaUnavailableError | BusUnavailableError;
type Attempt = Outcome | UnavailableError;

function messagesOf(
  record: KafkaRecord,
  { convert, printParts }: BatchPorts,
  span: ActiveSpan | undefined,
): Attempt | PendingConversion | Promise<Attempt | PendingConversion> {
  if (record.poison !== undefined) return record.poison;
  try {
    const converted = convert(record);
    return converted instanceof Promise
      ? converted.then((awaited) => convertedOf(record, awaited, span, printParts)).catch(attemptOf)
      : convertedOf(record, converted, span, printParts);
  } catch (error) {
    return attemptOf(error);
  }
}

function finishedMessagesOf(
  record: KafkaRecord,
  { finish }: PendingConversion,
  { printParts }: BatchPorts,
  span: ActiveSpan | undefined,
): Promise<Attempt> {
  return finish()
    .then((conversion) => outcomeOf(record, conversion, span, printParts))
    .catch(attemptOf);
}

function convertedOf(
  record: KafkaRecord,
  converted: Converted,
  span: ActiveSpan | undefined,
  printParts: BatchPorts['printParts'],
): Outcome | PendingConversion {
  return converted instanceof PendingConversion ? converted : outcomeOf(record, converted, span, printParts);
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
  const origin = { offset, timestamp, ...(span && { trace: span.context }) };
  const messages = destinations.map(({ channel, history, keyHash, isDeparture, payload: own = payload }) => ({
    channel,
    payload: isDeparture ? TOMBSTONE : own,
    ...origin,
    history,
    ...(keyHash !== undefined && { keyHash }),
    ...(isDeparture && { isDeparture }),
  }));
  if (!printParts || messages.length === 0) return messages;
  const content = conversion.content ?? source;
  const record = printParts(content, false);
  if (record === undefined) return messages;
  return messages.map((message, i) => {
    if (!message.isDeparture && !destinations[i]!.isLeft) return { ...message, record };
    // What the record carries is not for the channels that it leaves.
    const left = printParts(content, true);
    return left === undefined ? message : { ...message, record: left };
  });
}

/** Another error is deterministic: a retry would throw again, and block the partition for ever. */
function attemptOf(error: unknown): Attempt {
  return error instanceof SchemaUnavailableError || error instanceof BusUnavailableError ? error : 'failed';
}
