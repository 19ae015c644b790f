import { randomBytes } from 'node:crypto';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { Cursors } from '../../src/gateway/fanout/resume/cursor.ts';
import { createLog } from '../../src/base/log.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';

/** Publishes events of auctions like a worker, with a history. */
export class AuctionHistory {
  readonly #bus: RedisBus;
  readonly #prefix: string;
  #published = 0;

  constructor(redisUrl: string, prefix: string) {
    this.#bus = new RedisBus({ url: redisUrl, prefix, log: createLog('error') });
    this.#prefix = prefix;
  }

  async open(): Promise<void> {
    await this.#bus.start();
    await this.#bus.acquire({ topic: AUCTION_TOPIC, partition: 0, position: -1 });
  }

  /** Publishes this number of events of an auction and returns the version of the last one. */
  async publish(auctionId: number, count: number): Promise<number> {
    const messageOf = auctionMessages(auctionId);
    const history = { ...HISTORY_DEFAULTS, entries: 3000, bytes: 8 * 1024 * 1024, seconds: 3600 };
    for (let i = 0; i < count; i++) {
      const offset = this.#published++;
      const message = {
        channel: auctionChannel(this.#prefix, auctionId),
        payload: messageOf(offset),
        offset,
        timestamp: Date.now(),
        history,
      };
      await this.#bus.publish([message], { topic: AUCTION_TOPIC, partition: 0, offset });
    }
    return versionIn(messageOf(this.#published - 1));
  }

  /** Versions and cursors, as the gateway signs them, of `count` events of an auction, starting with its event of index `from`. */
  async cursors(auctionId: number, from: number, count: number): Promise<{ version: number; cursor: string }[]> {
    const channel = auctionChannel(this.#prefix, auctionId);
    const first = { from: '0-0', maxEntries: 10_000, maxBytes: 64 * 1024 * 1024 };
    const { entries } = await this.#bus.history(channel, first);
    const cursors = new Cursors(await this.#bus.agree('cursor-secret', randomBytes(32).toString('base64url')));
    return entries.slice(from, from + count).map(({ payload, coordinates }) => {
      const { entry = '', ...position } = coordinates;
      return { version: versionIn(payload.toString()), cursor: cursors.sign(channel, { ...position, entry }) };
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

function versionIn(message: string): number {
  return Number(/"version":(\d+)/.exec(message)![1]);
}
