/** Time in ms after an event for which further events are expected. */
const EVENTS_FLOW_MS = 1000;

/** Counts the messages that reach the channels of a gateway. */
export class Arrivals {
  #total = 0;
  #ofWorkers = 0;
  /** Of performance.now(). */
  #lastAt = -Infinity;

  get total(): number {
    return this.#total;
  }

  /** Messages of workers, in total. */
  get ofWorkers(): number {
    return this.#ofWorkers;
  }

  /** True for a second after each message. */
  get areFlowing(): boolean {
    return performance.now() - this.#lastAt < EVENTS_FLOW_MS;
  }

  readonly add = (isOfWorker: boolean): void => {
    this.#lastAt = performance.now();
    this.#total++;
    if (isOfWorker) this.#ofWorkers++;
  };
}
