import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { longestSilence } from './step-figures.ts';

/** Begins a message: partition, offset and time of its record. */
const HEADER = /^@(\d+) \d+ (\d+) /;
const HEADER_BYTES = 64;
const TIMEOUT_MS = 60_000;
const POLL_MS = 20;

/** Records when the messages of each partition arrive on a channel of Redis. */
export class PartitionWatch {
  readonly #redis: Redis;
  readonly #channel: string;
  /** Times of arrival by partition, of performance.now(). */
  readonly #arrivals: number[][];
  /** Time of the newest record by partition, in ms since 1970. */
  readonly #newest: number[];

  constructor(redisUrl: string, channel: string, partitions: number) {
    this.#redis = new Redis(redisUrl, { lazyConnect: true });
    this.#channel = channel;
    this.#arrivals = Array.from({ length: partitions }, () => []);
    this.#newest = new Array<number>(partitions).fill(0);
  }

  async start(): Promise<void> {
    this.#redis.on('messageBuffer', (_channel: Buffer, message: Buffer) => this.#onMessage(message));
    await this.#redis.connect();
    await this.#redis.subscribe(this.#channel);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** Resolves when each partition has a record that was written from now on. @throws Error after a minute */
  async hasCaughtUp(signal: AbortSignal): Promise<void> {
    const since = Date.now();
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const silent = this.#newest.flatMap((newest, partition) => (newest < since ? [partition] : []));
      if (silent.length === 0) return;
      if (performance.now() > deadline) throw new Error(`partitions without records: ${silent.join(', ')}`);
      await delay(POLL_MS, undefined, { signal });
    }
  }

  /** The longest silence of each partition between two times of performance.now(). */
  silences(from: number, to: number): number[] {
    return this.#arrivals.map((times) => longestSilence(times, from, to));
  }

  #onMessage(message: Buffer): void {
    const [, partition, timestamp] = HEADER.exec(message.toString('latin1', 0, HEADER_BYTES)) ?? [];
    if (partition === undefined) return;
    this.#arrivals[Number(partition)]!.push(performance.now());
    this.#newest[Number(partition)] = Math.max(this.#newest[Number(partition)]!, Number(timestamp));
  }
}
