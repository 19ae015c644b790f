import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { LONG_LIVED } from '../../stack/kafka-node.ts';
import { startRedisServer } from '../../stack/redis-server.ts';

interface Stoppable {
  stop(): Promise<unknown>;
}

/** What a run has started. It ends in the reverse order. */
export class Scope {
  readonly #closes: (() => unknown)[] = [];
  #isClosed = false;

  /** `close` is called at the end; at once if the scope is closed. */
  after(close: () => unknown): void {
    if (this.#isClosed) void Promise.resolve(close()).catch(() => undefined);
    else this.#closes.push(close);
  }

  /** `close` is called after all others. */
  last(close: () => unknown): void {
    this.#closes.unshift(close);
  }

  own<Part extends Stoppable>(part: Part): Part {
    this.after(() => part.stop());
    return part;
  }

  async redis() {
    return this.own(await startRedisServer());
  }

  async kafka() {
    return this.own(await startKafkaBroker({ javaFlags: LONG_LIVED }));
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let close = this.#closes.pop(); close; close = this.#closes.pop()) await close();
  }
}
