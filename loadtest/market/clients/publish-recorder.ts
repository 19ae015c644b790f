import { Redis } from 'ioredis';

/** Subscribes to every channel of the pods and records when Redis published each record. */
export class PublishRecorder {
  /** Publish time in ms of the given clock, by lane and sequence. */
  readonly #publishedAt: number[][];
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #clock: () => number;
  #count = 0;

  constructor(redisUrl: string, prefix: string, laneCount: number, clock: () => number) {
    this.#publishedAt = Array.from({ length: laneCount }, () => []);
    this.#redis = new Redis(redisUrl, { lazyConnect: true });
    this.#prefix = prefix;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    this.#redis.on('pmessage', (_pattern: string, _channel: string, text: string) => this.#onMessage(text));
    await this.#redis.connect();
    await this.#redis.psubscribe(`${this.#prefix}*`);
  }

  /** Number of received messages. */
  get count(): number {
    return this.#count;
  }

  /** Publish time; undefined when Redis never had the record. */
  publishedAt(lane: number, sequence: number): number | undefined {
    return this.#publishedAt[lane]?.[sequence];
  }

  /** A record is published on a channel per binding; its first message counts. */
  #onMessage(text: string): void {
    this.#count++;
    const found = /"entry":\{"lane":(\d+),"sequence":(\d+)/.exec(text);
    const times = found && this.#publishedAt[Number(found[1])];
    if (times) times[Number(found[2])] ??= this.#clock();
  }
}
