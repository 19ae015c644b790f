import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { Cursors } from '../../src/fanout/resume/cursor.ts';
import { createLog } from '../../src/log.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';

/** Publishes the events of one auction like a worker, with a history. */
export class AuctionHistory {
  readonly #bus: RedisBus;
  readonly #channel: string;
  readonly #message: (event: number) => string;
  #published = 0;

  constructor(redisUrl: string, prefix: string, auctionId: number) {
    this.#bus = new RedisBus({ url: redisUrl, prefix, log: createLog('error') });
    this.#channel = auctionChannel(prefix, auctionId);
    this.#message = auctionMessages(auctionId);
  }

  async open(): Promise<void> {
    await this.#bus.start();
    await this.#bus.acquire({ topic: AUCTION_TOPIC, partition: 0, position: -1 });
  }

  /** Publishes this number of events and returns the version of the last one. */
  async publish(count: number): Promise<number> {
    const history = { ...HISTORY_DEFAULTS, entries: 3000, bytes: 8 * 1024 * 1024, seconds: 3600 };
    for (let i = 0; i < count; i++) {
      const offset = this.#published++;
      const message = {
        channel: this.#channel,
        payload: this.#message(offset),
        offset,
        timestamp: Date.now(),
        history,
      };
      await this.#bus.publish([message], { topic: AUCTION_TOPIC, partition: 0, offset });
    }
    return versionIn(this.#message(this.#published - 1));
  }

  /** Versions and cursors of `count` events, starting with the event of index `from`. */
  async cursors(secret: string, from: number, count: number): Promise<{ version: number; cursor: string }[]> {
    const first = { from: '0-0', maxEntries: 10_000, maxBytes: 64 * 1024 * 1024 };
    const { entries } = await this.#bus.history(this.#channel, first);
    const cursors = new Cursors(secret);
    return entries.slice(from, from + count).map(({ payload, coordinates }) => {
      const { entry = '', ...position } = coordinates;
      return { version: versionIn(payload.toString()), cursor: cursors.sign(this.#channel, { ...position, entry }) };
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

function versionIn(message: string): number {
  return Number(/"version":(\d+)/.exec(message)![1]);
}
