/** Time in ms after an event for which further events are expected. */
const EVENTS_FLOW_MS = 1000;

/** Counts the messages that reach the subscriptions of a gateway. */
export class Arrivals {
  #ofWorkers = 0;
  /** Of performance.now(). */
  #lastAt = -Infinity;

  /** Messages of workers, in total. */
  get ofWorkers(): number {
    return this.#ofWorkers;
  }

  /** True for a second after each message. */
  get areFlowing(): boolean {
    return performance.now() - this.#lastAt < EVENTS_FLOW_MS;
  }

  add(isOfWorker: boolean): void {
    this.#lastAt = performance.now();
    if (isOfWorker) this.#ofWorkers++;
  }
}
