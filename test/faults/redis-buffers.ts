import { Redis } from 'ioredis';
import type { Scope } from '../support/socket.ts';

const INTERVAL_MS = 50;

/** Redis's output buffers, sampled 20 times a second. */
export class RedisBuffers {
  /** Largest output buffer of a client, in bytes. */
  largest = 0;
  readonly #redis: Redis;
  readonly #timer: NodeJS.Timeout;

  constructor(scope: Scope, url: string) {
    this.#redis = new Redis(url, { retryStrategy: () => null });
    this.#redis.on('error', () => undefined);
    this.#timer = setInterval(() => void this.#sample(), INTERVAL_MS);
    scope.after(() => {
      clearInterval(this.#timer);
      this.#redis.disconnect();
    });
  }

  async #sample(): Promise<void> {
    const clients = await this.#redis.client('LIST').catch(() => '');
    for (const [, bytes] of String(clients).matchAll(/ omem=(\d+)/g))
      this.largest = Math.max(this.largest, Number(bytes));
  }
}
