import type { Message } from '../bus/bus.ts';
import type { DecodeReason, Decoded } from './record.ts';

/** A record as Kafka carries it; its buffers are slices of a whole fetch response, so nobody keeps them. */
export interface KafkaRecord {
  readonly topic: string;
  readonly partition: number;
  /** A 64-bit number in decimal. */
  readonly offset: string;
  /** Milliseconds since the epoch, in decimal. */
  readonly timestamp: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** Known before it is decoded: it stands for a record of a batch that could not be inflated. */
  readonly poison?: PoisonReason | undefined;
}

/** `failed`: our own code threw on the record; `batch_…`: its batch could not be inflated. */
export type PoisonReason = DecodeReason | 'failed' | 'batch_too_large' | 'batch_corrupt';

export interface PoisonRecord {
  readonly record: KafkaRecord;
  readonly reason: PoisonReason;
}

/** A channel, and what it keeps of what is published on it. */
export type Destination = Pick<Message, 'channel' | 'history'>;

export interface BatchPorts {
  /** A record's value as its snake_cased payload, or why it has none. */
  readonly decode: (value: Buffer | null) => Decoded;
  /** The channels that a payload belongs to; none when nothing is bound to it. */
  readonly route: (topic: string, payload: object) => readonly Destination[];
}

/** What is published at a time. */
export interface Chunk {
  readonly messages: readonly Message[];
  readonly poison: readonly PoisonRecord[];
  readonly recordCount: number;
  /** Everything up to this record, and nothing behind it, is in this chunk or one before. */
  readonly last: KafkaRecord;
}

/** Whichever is reached first ends a chunk; a record is never split. */
export interface ChunkLimits {
  readonly messages: number;
  /** Of payload text, once per channel, and of poison values. */
  readonly bytes: number;
}

/** About 20 ms of decoding, so that neither heartbeats nor sockets wait for a huge batch. */
export const CHUNK_LIMITS: ChunkLimits = { messages: 1000, bytes: 1_048_576 };

/** The chunks of a batch, in its order; computed as they are asked for. */
export function* chunksOf(
  records: Iterable<KafkaRecord>,
  ports: BatchPorts,
  limits: ChunkLimits = CHUNK_LIMITS,
): Generator<Chunk, void, void> {
  let messages: Message[] = [];
  let poison: PoisonRecord[] = [];
  let recordCount = 0;
  let bytes = 0;
  let last: KafkaRecord | undefined;
  for (const record of records) {
    const outcome = convert(record, ports);
    if (typeof outcome === 'string') {
      poison.push({ record, reason: outcome });
      bytes += record.value?.length ?? 0;
    } else {
      messages.push(...outcome);
      bytes += outcome.length * (outcome[0]?.payload.length ?? 0);
    }
    recordCount++;
    last = record;
    if (messages.length + poison.length >= limits.messages || bytes >= limits.bytes) {
      yield { messages, poison, recordCount, last };
      messages = [];
      poison = [];
      recordCount = 0;
      bytes = 0;
      last = undefined;
    }
  }
  if (last) yield { messages, poison, recordCount, last };
}

/** A record's messages, which share one payload text, or the reason why it is poison. */
function convert(
  { topic, offset, timestamp, value, poison }: KafkaRecord,
  { decode, route }: BatchPorts,
): Message[] | PoisonReason {
  if (poison !== undefined) return poison;
  try {
    const decoded = decode(value);
    if (decoded.poison !== undefined) return decoded.poison;
    const channels = route(topic, decoded.payload);
    if (channels.length === 0) return [];
    const payload = JSON.stringify(decoded.payload);
    const place = { offset: Number(offset), timestamp: Number(timestamp) };
    return channels.map(({ channel, history }) => ({ channel, payload, ...place, history }));
  } catch {
    // Deterministic: the same record would throw for ever, and take its partition with it.
    return 'failed';
  }
}
