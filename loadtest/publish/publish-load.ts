import { setTimeout as delay } from 'node:timers/promises';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { CHUNK_LIMITS } from '../../src/kafka/batch.ts';
import { createLog } from '../../src/base/log.ts';
import { AUCTION_TOPIC, auctionChannel, auctionMessages } from '../fanout/auction.ts';

const PREFIX = 'publish:';
/** As many as a worker publishes at a time. */
const PARTITIONS = 8;
const AUCTIONS = 1000;
/** Fewer entries than by default, so that the histories are soon full: then each message also removes one. */
const HISTORY = { ...HISTORY_DEFAULTS, entries: 50 };
/** Longest wait for messages that were published. */
const ARRIVAL_TIMEOUT_MS = 10_000;

/**
 * A worker that is behind, and a gateway: eight partitions publish chunks as large as the worker's, one after the other, on 1,000 channels
 * with a history, and a bus in the same process is subscribed to all of them.
 */
export class PublishLoad {
  readonly #worker: RedisBus;
  readonly #gateway: RedisBus;
  readonly #messages = Array.from({ length: AUCTIONS }, (_, auction) => auctionMessages(auction));
  readonly #channels = Array.from({ length: AUCTIONS }, (_, auction) => auctionChannel(PREFIX, auction));
  /** Next offset of each partition. */
  readonly #offsets = new Array<number>(PARTITIONS).fill(0);
  #accepted = 0;
  #received = 0;

  constructor(redisUrl: string) {
    const options = { url: redisUrl, prefix: PREFIX, log: createLog('error') };
    this.#worker = new RedisBus(options);
    this.#gateway = new RedisBus(options);
  }

  /** Records that Redis has accepted. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Connects, subscribes, and fills the histories. */
  async open(): Promise<void> {
    await Promise.all([this.#worker.start(), this.#gateway.start()]);
    await Promise.all(this.#channels.map((channel) => this.#gateway.subscribe(channel, () => this.#received++)));
    for (let partition = 0; partition < PARTITIONS; partition++) {
      await this.#worker.acquire({ topic: AUCTION_TOPIC, partition, position: -1 });
    }
    await this.#publishWhile(() => this.#accepted < HISTORY.entries * AUCTIONS);
  }

  /** Publishes until `measure` has resolved. Returns the count of messages that the gateway did not receive, or received twice. */
  async runDuring(measure: () => Promise<void>): Promise<number> {
    let isMeasuring = true;
    const measured = measure().finally(() => (isMeasuring = false));
    await Promise.all([measured, this.#publishWhile(() => isMeasuring)]);
    const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
    while (this.#received < this.#accepted && performance.now() < deadline) await delay(20);
    return Math.abs(this.#accepted - this.#received);
  }

  async close(): Promise<void> {
    await Promise.all([this.#worker.close(), this.#gateway.close()]);
  }

  async #publishWhile(isWanted: () => boolean): Promise<void> {
    const publishPartition = async (partition: number) => {
      while (isWanted()) await this.#publishChunk(partition);
    };
    await Promise.all(this.#offsets.map((_, partition) => publishPartition(partition)));
  }

  async #publishChunk(partition: number): Promise<void> {
    const messages: ChannelMessage[] = [];
    const timestamp = Date.now();
    for (let bytes = 0; bytes < CHUNK_LIMITS.bytes && messages.length < CHUNK_LIMITS.messages;) {
      const offset = this.#offsets[partition]!++;
      // A partition has the records of its own auctions, each in turn.
      const auction = (offset * PARTITIONS + partition) % AUCTIONS;
      const payload = this.#messages[auction]!(offset);
      bytes += payload.length;
      messages.push({ channel: this.#channels[auction]!, payload, offset, timestamp, history: HISTORY });
    }
    await this.#worker.publish(messages, { topic: AUCTION_TOPIC, partition, offset: messages.at(-1)!.offset });
    this.#accepted += messages.length;
  }
}
