import { Pool } from 'undici';
import type { Dispatcher } from 'undici';

export interface SocketsOptions {
  readonly origin: string;
  /** Longest wait for a connection. */
  readonly connectTimeoutMs: number;
  readonly maxResponseBytes: number;
}

/** The keep-alive sockets of one backend: undici's pool, whose bound may change. */
export class Sockets {
  readonly #options: SocketsOptions;
  /** The current pool, and those before it that still have requests in flight. */
  readonly #pools = new Set<Pool>();
  #current: Pool | undefined;
  #limit = 0;

  constructor(options: SocketsOptions) {
    this.#options = options;
  }

  /** @param limit most sockets from now on; a change replaces the pool */
  request(request: Dispatcher.RequestOptions, limit: number): Promise<Dispatcher.ResponseData> {
    const isCurrent = this.#current && (limit === this.#limit || this.#current.destroyed);
    if (!isCurrent) this.#current = this.#open(limit);
    return this.#current!.request(request);
  }

  /** Ends all requests. */
  async destroy(): Promise<void> {
    await Promise.all([...this.#pools].map((pool) => pool.destroy()));
  }

  #open(limit: number): Pool {
    const previous = this.#current;
    if (previous) void previous.close().then(() => this.#pools.delete(previous));
    const { origin, connectTimeoutMs, maxResponseBytes } = this.#options;
    const pool = new Pool(origin, {
      connections: limit,
      pipelining: 1,
      connect: { timeout: connectTimeoutMs },
      // The deadline of the request ends both waits.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: maxResponseBytes,
    });
    this.#limit = limit;
    this.#pools.add(pool);
    return pool;
  }
}
