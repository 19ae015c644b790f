import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Coordinates } from '../../../bus/coordinates.ts';
import type { EntryId } from '../../../bus/entry-id.ts';

/** Characters of base64url, 96 bits: guessing one takes 2^95 subscribes on average. */
const MAC_LENGTH = 16;
const CURSOR = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([\w-]{0,64})\.([\w-]{16})$/;

/** The position of an event, which may be in no history. */
export type EventPosition = Pick<Coordinates, 'epoch' | 'partition' | 'offset' | 'entry'>;

/** The position of an event: in Kafka and in the channel's history. */
export interface CursorPosition extends EventPosition {
  /** Of its entry in the channel's history; '' without one. */
  readonly entry: EntryId;
}

/** Without what a channel that is idle must not keep. */
export function positionOf({ epoch, partition, offset }: Coordinates, entry: EntryId): CursorPosition {
  return { epoch, partition, offset, entry };
}

/**
 * Signs cursors: a cursor names an event to a client that resumes. It is opaque to the client, valid for one channel, and cannot be forged
 * (HMAC-SHA-256, truncated to 96 bits). It needs no quoting in JSON.
 */
export class Cursors {
  readonly #secret: string;

  /** `secret`: the same on every pod. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  sign(channel: string, { epoch, partition, offset, entry }: CursorPosition): string {
    const position = `${epoch.toString(36)}.${partition.toString(36)}.${offset.toString(36)}.${entry}`;
    return `${position}.${this.#signatureOf(channel, position)}`;
  }

  /** The position that a cursor names; undefined if it is of another channel or secret, or no cursor at all. */
  read(channel: string, cursor: unknown): CursorPosition | undefined {
    if (typeof cursor !== 'string') return undefined;
    const parts = CURSOR.exec(cursor)?.slice(1);
    if (!parts) return undefined;
    const [epoch, partition, offset, entry, mac] = parts as [string, string, string, string, string];
    const position = cursor.slice(0, -mac.length - 1);
    if (!timingSafeEqual(Buffer.from(this.#signatureOf(channel, position)), Buffer.from(mac))) return undefined;
    return {
      epoch: Number.parseInt(epoch, 36),
      partition: Number.parseInt(partition, 36),
      offset: Number.parseInt(offset, 36),
      entry,
    };
  }

  /** The separator is safe: no position contains a line break. */
  #signatureOf(channel: string, position: string): string {
    return createHmac('sha256', this.#secret)
      .update(`${position}\n${channel}`)
      .digest('base64url')
      .slice(0, MAC_LENGTH);
  }
}
