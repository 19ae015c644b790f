import type { Market } from '../scenarios/load/market.ts';
import type { MarketProducer } from '../scenarios/load/producer.ts';
import { Schedule } from '../scenarios/load/schedule.ts';

const WARM_UP_SECONDS = 3;
/** Length of one schedule, so that `stop` waits for a second at most. */
const SCHEDULE_SECONDS = 1;

/** Writes a market's records at a constant rate until it is stopped. */
export class SteadyLoad {
  readonly #producer: MarketProducer;
  readonly #market: Market;
  readonly #options: { readonly recordsPerSecond: number; readonly signal: AbortSignal };
  #isOn = false;
  #done: Promise<void> | undefined;

  constructor(
    producer: MarketProducer,
    market: Market,
    options: { readonly recordsPerSecond: number; readonly signal: AbortSignal },
  ) {
    this.#producer = producer;
    this.#market = market;
    this.#options = options;
  }

  /** Writes for three seconds. */
  async warmUp(): Promise<void> {
    await this.#run(performance.timeOrigin + performance.now(), WARM_UP_SECONDS);
  }

  start(): void {
    this.#isOn = true;
    const run = async () => {
      // The schedules follow each other without a gap, so a late record keeps its time.
      for (let at = performance.timeOrigin + performance.now(); this.#isOn; at += SCHEDULE_SECONDS * 1000) {
        await this.#run(at, SCHEDULE_SECONDS);
      }
    };
    this.#done = run();
    // `stop` reports it.
    this.#done.catch(() => undefined);
  }

  /** Resolves when all records are written. Idempotent. @throws Error of the producer */
  async stop(): Promise<void> {
    this.#isOn = false;
    await this.#done;
  }

  async #run(startsAt: number, seconds: number): Promise<void> {
    const { recordsPerSecond, signal } = this.#options;
    await this.#producer.run(new Schedule(startsAt, recordsPerSecond, seconds), this.#market, signal);
  }
}
