import { Redis } from 'ioredis';
import { auctionChannel } from '../../fanout/auction.ts';
import { NUMBER_DIGITS } from '../../clients/number-at.ts';
import { monotonicMs } from '../../processes/process-usage.ts';
import { AUCTION_ID, copyOf } from '../flood/copies.ts';

/** Its connection name in Redis, to exclude it from the pods' buffers. */
export const WATCH_NAME = 'loadtest-publish-watch';

const NUMBER_KEY = '"version":';

/**
 * Records when Redis delivers each copy, as one more subscriber of the sockets' channel. It reads only a message's number, so it keeps up
 * when a gateway does not.
 */
export class PublishWatch {
  readonly #redis: Redis;
  readonly #channel: string;
  readonly #onPublished: (copy: number, atMs: number) => void;

  constructor(redisUrl: string, channelPrefix: string, onPublished: (copy: number, atMs: number) => void) {
    this.#redis = new Redis(redisUrl, { lazyConnect: true, connectionName: WATCH_NAME });
    this.#channel = auctionChannel(channelPrefix, AUCTION_ID);
    this.#onPublished = onPublished;
  }

  async start(): Promise<void> {
    // Redis disconnects a subscriber whose output buffer is full; some ages then stay unknown.
    this.#redis.on('error', () => undefined);
    this.#redis.on('messageBuffer', (_channel: Buffer, message: Buffer) => this.#onMessage(message));
    await this.#redis.connect();
    await this.#redis.subscribe(this.#channel);
  }

  close(): void {
    this.#redis.disconnect();
  }

  #onMessage(message: Buffer): void {
    const from = message.indexOf(NUMBER_KEY) + NUMBER_KEY.length;
    const copy = copyOf(Number(message.toString('latin1', from, from + NUMBER_DIGITS)));
    if (copy !== undefined) this.#onPublished(copy, monotonicMs());
  }
}
