import { Redis } from 'ioredis';

/** Follows every channel of the pods, to know which record Redis had, and when. */
export class Witness {
  /** By lane, by sequence: ms of the clock it was made with. */
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

  /** Messages that came. */
  get count(): number {
    return this.#count;
  }

  /** Undefined where Redis never had the record. */
  publishedAt(lane: number, sequence: number): number | undefined {
    return this.#publishedAt[lane]?.[sequence];
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** A record has a channel for each of its bindings: the first message of it counts. */
  #onMessage(text: string): void {
    this.#count++;
    const found = /"entry":\{"lane":(\d+),"sequence":(\d+)/.exec(text);
    const times = found && this.#publishedAt[Number(found[1])];
    if (times) times[Number(found[2])] ??= this.#clock();
  }
}
