import { Redis } from 'ioredis';
import { auctionChannel } from '../../fanout/auction.ts';
import { NUMBER_DIGITS } from '../../fanout/client/number-at.ts';
import { monotonicMs } from '../../monotonic.ts';
import { AUCTION_ID, copyOf } from '../flood/copies.ts';

/** Its name in Redis, which tells it from the pods. */
export const WATCH_NAME = 'loadtest-publish-watch';

const NUMBER_KEY = '"version":';

/**
 * Notes when Redis passes on each copy, as one more subscriber of the channel that the sockets watch. It does nothing else with a message,
 * so that it is not behind when a gateway is.
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
    // Redis closes the link of a subscriber that is far behind; then some ages stay unknown.
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
