import type { PublishLink } from './publish-link.ts';
import type { RedisTag } from './redis-tag.ts';

export interface ReturningGatewaysOptions {
  readonly tags: readonly RedisTag[];
  /** Longest wait for the gateways, in ms. */
  readonly patienceMs: number;
  /** Counts the gateways that are subscribed on the tag's server; undefined: it does not answer. */
  readonly count: (tag: RedisTag) => Promise<number | undefined>;
}

/** Between two counts, in ms. */
const COUNT_INTERVAL_MS = 2_500;
/** The same while gateways are missing. */
const URGENT_COUNT_INTERVAL_MS = 20;

/** A connection by which the messages of a tag are published. */
interface Passage {
  readonly connection: PublishLink['client']['stream'];
  /** When it was first seen, of performance.now(). */
  readonly since: number;
  /** Time of the last count, of performance.now(). */
  countedAt: number;
  /** As many gateways as before are subscribed, or the patience has ended. */
  isOpen: boolean;
}

/**
 * After an outage of Redis, or a failover, a worker and the gateways connect again by back-offs of their own. What is published before a
 * gateway has subscribed again is lost to its clients. So a new connection stays closed until as many gateways are subscribed as before,
 * or the patience ends.
 */
export class ReturningGateways {
  readonly #options: ReturningGatewaysOptions;
  /** By tag. */
  readonly #passages = new Map<RedisTag, Passage>();
  /** At the last count while every connection was open. */
  #gateways = 0;
  /** Time of that count, of performance.now(). */
  #countedAt = -Infinity;

  constructor(options: ReturningGatewaysOptions) {
    this.#options = options;
  }

  /** True if every connection is open. */
  areBack(now: number): boolean {
    // All of them, so that the gateways are counted on all at the same time.
    return this.#connected.filter((tag) => !this.#isOpen(tag, now)).length === 0;
  }

  /** Counts the gateways, if every connection is open and the last count is old. */
  recount(now: number): void {
    const [tag] = this.#connected;
    if (!tag || now - this.#countedAt < COUNT_INTERVAL_MS || !this.areBack(now)) return;
    this.#countedAt = now;
    void this.#options.count(tag).then((gateways) => (this.#gateways = gateways ?? this.#gateways));
  }

  get #connected(): readonly RedisTag[] {
    return this.#options.tags.filter(({ publisher }) => publisher.isUp);
  }

  #isOpen(tag: RedisTag, now: number): boolean {
    const { count, patienceMs } = this.#options;
    const { stream: connection } = tag.publisher.client;
    let passage = this.#passages.get(tag);
    if (passage?.connection !== connection) {
      passage = { connection, since: now, countedAt: -Infinity, isOpen: this.#gateways === 0 };
      this.#passages.set(tag, passage);
    }
    passage.isOpen ||= now - passage.since >= patienceMs;
    if (!passage.isOpen && now - passage.countedAt >= URGENT_COUNT_INTERVAL_MS) {
      passage.countedAt = now;
      void count(tag).then((gateways) => (passage.isOpen ||= gateways !== undefined && gateways >= this.#gateways));
    }
    return passage.isOpen;
  }
}
