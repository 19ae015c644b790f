import { createHash } from 'node:crypto';
import type { IHeaders } from 'kafkajs';
import type { PoisonRecord } from '../batch.ts';

/** Of what crier says about a dead record, in its headers. */
const PREFIX = 'crier-';
/** Of a header that the producer named with our prefix. */
const ORIGINAL_PREFIX = 'crier-original-';
/** Below the brokers' default `max.message.bytes` (1,048,588), which leaves room for our headers and framing. */
const MAX_BODY_BYTES = 1_000_000;
/** What our headers and the framing add to one record, at most. */
const OVERHEAD_BYTES = 1000;

/** A record of the dead-letter topic. */
export interface DeadRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

/**
 * A copy of a poison record, with its reason, position and timestamp in headers. The dead record gets a timestamp of its own:
 * Kafka deletes by timestamp, and an old one would be deleted at once.
 *
 * Key, value and headers together have 1 MB. What does not fit is left out: the value first, then the headers, then the key. A
 * header says so, and the digest of the value says which one it was.
 */
export function deadRecord({ record, reason }: PoisonRecord): DeadRecord {
  const { topic, partition, offset, timestamp, key, value, poison } = record;
  const headers = record.headers ?? {};
  const isUnknown = poison !== undefined;
  const keyBytes = key?.length ?? 0;
  const headerBytes = sizeOf(headers);
  const isKeyOmitted = isUnknown || keyBytes > MAX_BODY_BYTES;
  const areHeadersOmitted = isUnknown || keyBytes + headerBytes > MAX_BODY_BYTES;
  const isValueOmitted = isUnknown || (value !== null && keyBytes + headerBytes + value.length > MAX_BODY_BYTES);
  return {
    key: isKeyOmitted ? null : copyOf(key),
    value: isValueOmitted ? null : copyOf(value),
    headers: {
      ...(!areHeadersOmitted && renamed(headers)),
      [`${PREFIX}reason`]: reason,
      [`${PREFIX}topic`]: topic,
      [`${PREFIX}partition`]: `${partition}`,
      [`${PREFIX}offset`]: offset,
      [`${PREFIX}timestamp`]: timestamp,
      ...(!isUnknown && {
        [`${PREFIX}value-bytes`]: `${value?.length ?? 0}`,
        [`${PREFIX}value-sha256`]: sha256(value),
      }),
      ...(isValueOmitted && { [`${PREFIX}value-omitted`]: 'true' }),
      ...(areHeadersOmitted && headerBytes > 0 && { [`${PREFIX}headers-omitted`]: 'true' }),
      ...(isKeyOmitted && { [`${PREFIX}key-omitted`]: 'true' }),
    },
  };
}

/** Only what crier says about the record, for a topic that takes less than the brokers' default. */
export function withoutBody({ key, value, headers }: DeadRecord): DeadRecord {
  const names = Object.keys(headers);
  const ours = names.filter((name) => name.startsWith(PREFIX) && !name.startsWith(ORIGINAL_PREFIX));
  return {
    key: null,
    value: null,
    headers: {
      ...Object.fromEntries(ours.map((name) => [name, headers[name]])),
      ...(value !== null && { [`${PREFIX}value-omitted`]: 'true' }),
      ...(ours.length < names.length && { [`${PREFIX}headers-omitted`]: 'true' }),
      ...(key !== null && { [`${PREFIX}key-omitted`]: 'true' }),
    },
  };
}

/** What a record takes of a batch. */
interface Body {
  readonly key?: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: IHeaders | undefined;
}

/** In groups that fit into one batch each: kafkajs sends one for each partition and call, and `max.message.bytes` bounds it. */
export function* groupsOf<Item>(items: readonly Item[], bodyOf: (item: Item) => Body): Generator<Item[], void, void> {
  let group: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const { key, value, headers = {} } = bodyOf(item);
    const size = Math.min(MAX_BODY_BYTES, (key?.length ?? 0) + (value?.length ?? 0) + sizeOf(headers)) + OVERHEAD_BYTES;
    if (group.length > 0 && bytes + size > MAX_BODY_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(item);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** Bytes of names and values. */
function sizeOf(headers: IHeaders): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value].flat()) bytes += Buffer.byteLength(name) + (one?.length ?? 0);
  }
  return bytes;
}

/** The producer's headers, out of the way of ours. */
function renamed(headers: IHeaders): IHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.startsWith(PREFIX) ? `${ORIGINAL_PREFIX}${name.slice(PREFIX.length)}` : name,
      // kafkajs cannot write null.
      Array.isArray(value) ? value.map((one) => copyOf(one) ?? '') : (copyOf(value) ?? ''),
    ]),
  );
}

/** Buffers of records are slices of a whole fetch response. */
function copyOf<Bytes extends Buffer | string | null | undefined>(bytes: Bytes): Bytes {
  return (Buffer.isBuffer(bytes) ? Buffer.from(bytes) : bytes) as Bytes;
}

function sha256(value: Buffer | null): string {
  return createHash('sha256')
    .update(value ?? '')
    .digest('hex');
}

/** What the headers of a dead letter say. */
export interface DeadLetterFacts {
  readonly reason: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly timestamp: string;
  /** Of the original value. */
  readonly valueBytes: number | undefined;
  /** Key, headers or value were left out: the record can be read only at its position, as long as Kafka keeps it. */
  readonly isPartial: boolean;
}

/** Undefined: the record is no dead letter of crier's. */
export function factsOf(headers: IHeaders = {}): DeadLetterFacts | undefined {
  const text = (name: string) => headers[`${PREFIX}${name}`]?.toString();
  const [reason, topic, partition, offset] = ['reason', 'topic', 'partition', 'offset'].map(text);
  if (!reason || !topic || !partition || !offset) return undefined;
  const valueBytes = text('value-bytes');
  return {
    reason,
    topic,
    partition: Number(partition),
    offset,
    timestamp: text('timestamp') ?? '',
    valueBytes: valueBytes === undefined ? undefined : Number(valueBytes),
    isPartial: ['value', 'headers', 'key'].some((part) => text(`${part}-omitted`) !== undefined),
  };
}

/** The producer's headers of a dead letter. */
export function originalHeaders(headers: IHeaders = {}): IHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (name.startsWith(ORIGINAL_PREFIX)) return [[`${PREFIX}${name.slice(ORIGINAL_PREFIX.length)}`, value]];
      return name.startsWith(PREFIX) ? [] : [[name, value]];
    }),
  );
}
