import { timingSafeEqual } from 'node:crypto';
import type { Coordinates } from '../../bus/coordinates.ts';
import { Mac } from './mac.ts';

/** Characters of base64url, 96 bits: to guess one takes 2^95 subscribes. */
const MAC_LENGTH = 16;
const CURSOR = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.(\d{0,20}-?\d{0,20})\.([\w-]{16})$/;

/** An event that a client has seen. */
export interface CursorPlace extends Pick<Coordinates, 'epoch' | 'partition' | 'offset'> {
  /** Id of its entry in the channel's history; '' without one. */
  readonly entry: string;
}

/**
 * What a client is given to name an event: opaque to it, good for one channel, and made by nobody else (HMAC-SHA-256, cut to
 * 96 bits). Needs no quoting in JSON.
 */
export class Cursors {
  readonly #mac: Mac;

  /** `secret`: the same on every pod. */
  constructor(secret: string) {
    this.#mac = new Mac(secret);
  }

  sign(channel: string, { epoch, partition, offset, entry }: CursorPlace): string {
    const place = `${epoch.toString(36)}.${partition.toString(36)}.${offset.toString(36)}.${entry}`;
    return `${place}.${this.#signatureOf(channel, place)}`;
  }

  /** What a cursor names; undefined for one of another channel or secret, and for what is none. */
  read(channel: string, cursor: unknown): CursorPlace | undefined {
    if (typeof cursor !== 'string') return undefined;
    const parts = CURSOR.exec(cursor)?.slice(1);
    if (!parts) return undefined;
    const [epoch, partition, offset, entry, mac] = parts as [string, string, string, string, string];
    const place = cursor.slice(0, -mac.length - 1);
    if (!timingSafeEqual(Buffer.from(this.#signatureOf(channel, place)), Buffer.from(mac))) return undefined;
    return {
      epoch: Number.parseInt(epoch, 36),
      partition: Number.parseInt(partition, 36),
      offset: Number.parseInt(offset, 36),
      entry,
    };
  }

  /** No place has a line break. */
  #signatureOf(channel: string, place: string): string {
    return this.#mac.of(`${place}\n${channel}`).slice(0, MAC_LENGTH);
  }
}
