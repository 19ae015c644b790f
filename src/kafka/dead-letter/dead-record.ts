import { createHash } from 'node:crypto';
import type { PoisonRecord, RecordHeaders } from '../batch.ts';
import { signatureOf } from '../decoding/record-signature.ts';

/** Prefix of crier's headers of a dead record. */
const PREFIX = 'crier-';
/** Prefix of a producer's header whose name starts with `crier-`. */
const ORIGINAL_PREFIX = 'crier-original-';
/** Below the brokers' default `max.message.bytes` (1,048,588), which leaves room for crier's headers and the framing. */
const MAX_BODY_BYTES = 1_000_000;
/** Bytes that crier's headers and the framing add to one record, at most. */
const OVERHEAD_BYTES = 1000;

/** A record of the dead-letter topic. */
export interface DeadRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

/**
 * Copies a poison record, with its reason, position and timestamp in headers. The dead record gets a new timestamp: Kafka deletes by
 * timestamp, and would delete an old record at once.
 *
 * Key, value and headers share 1 MB. If they exceed it, the value is omitted first, then the headers, then the key. Headers name the
 * omitted parts, and hold a digest of the value.
 */
export function deadRecord({ record, reason }: PoisonRecord): DeadRecord {
  const { topic, partition, offset, timestamp, key, value, poison } = record;
  const headers = record.headers ?? {};
  const isUnknown = poison !== undefined;
  const found = signatureOf(reason, record)?.found;
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
      ...(found !== undefined && { [`${PREFIX}found`]: found }),
      [`${PREFIX}topic`]: topic,
      [`${PREFIX}partition`]: `${partition}`,
      [`${PREFIX}offset`]: `${offset}`,
      [`${PREFIX}timestamp`]: `${timestamp}`,
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

/** The dead record with crier's headers only, for a topic whose limit is below the brokers' default. */
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

/** The parts of a record that take room in a batch. */
interface Body {
  readonly key?: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: RecordHeaders | undefined;
}

/** Groups items so that each group fits into one batch: kafkajs sends one batch per partition and call, within `max.message.bytes`. */
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

/** Bytes of the names and values. */
function sizeOf(headers: RecordHeaders): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value].flat()) bytes += Buffer.byteLength(name) + (one?.length ?? 0);
  }
  return bytes;
}

/** The producer's headers, renamed if they collide with crier's prefix. */
function renamed(headers: RecordHeaders): RecordHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.startsWith(PREFIX) ? `${ORIGINAL_PREFIX}${name.slice(PREFIX.length)}` : name,
      // kafkajs cannot write null.
      Array.isArray(value) ? value.map((one) => copyOf(one) ?? '') : (copyOf(value) ?? ''),
    ]),
  );
}

/** A copy: the buffers of records are slices of a whole fetch response. */
function copyOf<Bytes extends Buffer | string | null | undefined>(bytes: Bytes): Bytes {
  return (Buffer.isBuffer(bytes) ? Buffer.from(bytes) : bytes) as Bytes;
}

function sha256(value: Buffer | null): string {
  return createHash('sha256')
    .update(value ?? '')
    .digest('hex');
}

/** Facts from the headers of a dead letter. */
export interface DeadLetterFacts {
  readonly reason: string;
  /** What the record is, by its first bytes and the names of its headers. */
  readonly found: string | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly timestamp: string;
  /** Size of the original value. */
  readonly valueBytes: number | undefined;
  /** Key, headers or value are omitted: the whole record exists only at its original position, while Kafka retains it. */
  readonly isPartial: boolean;
}

/** Undefined: crier did not write the record. */
export function factsOf(headers: RecordHeaders = {}): DeadLetterFacts | undefined {
  const text = (name: string) => headers[`${PREFIX}${name}`]?.toString();
  const [reason, topic, partition, offset] = ['reason', 'topic', 'partition', 'offset'].map(text);
  if (!reason || !topic || !partition || !offset) return undefined;
  const valueBytes = text('value-bytes');
  return {
    reason,
    found: text('found'),
    topic,
    partition: Number(partition),
    offset,
    timestamp: text('timestamp') ?? '',
    valueBytes: valueBytes === undefined ? undefined : Number(valueBytes),
    isPartial: ['value', 'headers', 'key'].some((part) => text(`${part}-omitted`) !== undefined),
  };
}

/** The producer's headers of a dead letter. */
export function originalHeaders(headers: RecordHeaders = {}): RecordHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (name.startsWith(ORIGINAL_PREFIX)) return [[`${PREFIX}${name.slice(ORIGINAL_PREFIX.length)}`, value]];
      return name.startsWith(PREFIX) ? [] : [[name, value]];
    }),
  );
}
