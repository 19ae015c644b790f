import { crc32 } from 'node:zlib';

/** The entry in every record, with which a receiver can verify it. */
export interface LedgerEntry {
  /** The ordered stream of one auction in one topic: topic × auctions + auction. */
  readonly lane: number;
  /** Position in the lane, from 1 without gaps. */
  readonly sequence: number;
  /** The record's Kafka timestamp: its scheduled time, in ms since 1970. */
  readonly producedAt: number;
  /** CRC-32 of the record's description, in hex. */
  readonly digest: string;
  /** CRC-32 of the entry itself, in hex. */
  readonly seal: string;
}

export function createLedgerEntry(
  lane: number,
  sequence: number,
  producedAt: number,
  description: string,
): LedgerEntry {
  const digest = hex(description);
  return { lane, sequence, producedAt, digest, seal: sealOf({ lane, sequence, producedAt, digest }) };
}

/**
 * The entry in the payload of a `next` message: `{"data":{<field>:{"entry":{…},"description":"…"}}}`. A selected description is
 * checked against its digest. Returns undefined for a corrupt payload.
 */
export function readLedgerEntry(payload: unknown): LedgerEntry | undefined {
  const { data, errors } = (payload ?? {}) as { data?: Record<string, unknown>; errors?: unknown };
  const event = data && (Object.values(data)[0] as Record<string, unknown> | null);
  if (errors !== undefined || !event) return undefined;
  const { lane, sequence, produced_at, digest, seal } = (event['entry'] ?? {}) as Record<string, unknown>;
  const entry = { lane, sequence, producedAt: produced_at, digest, seal } as LedgerEntry;
  if (sealOf(entry) !== seal) return undefined;
  const { description } = event;
  if (description === undefined) return entry;
  return typeof description === 'string' && hex(description) === digest ? entry : undefined;
}

function sealOf({ lane, sequence, producedAt, digest }: Omit<LedgerEntry, 'seal'>): string {
  return hex(`${lane}#${sequence}#${producedAt}#${digest}`);
}

function hex(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
