import type { Observations } from '../../../ops/metrics/observations.ts';
import type { Message } from './frame.ts';
import type { ResultTimes } from './result-times.ts';

/** In seconds. Each is observed once for each delivery. `latency` is the time since the Kafka record; the others are the gateway's part of it. */
export interface DeliveryObservations {
  readonly latency: Observations;
  /** From the message to the execution. */
  readonly wait: Observations;
  readonly execute: Observations;
  /** From the result until the kernel has accepted the message, also while the socket is backpressured. */
  readonly write: Observations;
}

/**
 * Counts what sockets accept, and observes the times of results. The outboxes report each write; the writer observes all results of a few
 * writes at once, so that one delivery costs an addition.
 */
export class Deliveries {
  /** Messages with results of events that the kernel has accepted. */
  count = 0;
  /** Bytes of all frames that it has accepted. */
  bytes = 0;
  /** Writes to sockets. */
  writes = 0;
  readonly #observations: DeliveryObservations | undefined;
  /** Results with accepted messages that are not observed yet: the first `#length` entries. The list keeps its memory. */
  readonly #results: (ResultTimes | undefined)[] = [];
  #length = 0;

  /** @param observations undefined: messages are only counted */
  constructor(observations?: DeliveryObservations) {
    this.#observations = observations;
  }

  /** The kernel has accepted the first `count` of these messages, which have `bytes`. */
  add(messages: readonly Message[], count: number, bytes: number): void {
    this.bytes += bytes;
    for (let i = 0; i < count; i++) {
      const { times } = messages[i]!.result;
      if (times !== undefined && times.accepted++ === 0) this.#results[this.#length++] = times;
    }
  }

  /** The kernel has accepted a write that had to wait. */
  addLate(results: readonly (ResultTimes | undefined)[], bytes: number): void {
    this.bytes += bytes;
    for (const times of results) {
      if (times !== undefined && times.accepted++ === 0) this.#results[this.#length++] = times;
    }
  }

  /**
   * Observes everything that was added since the last call.
   * @param now of performance.now(): the messages were accepted shortly before. Default: read now
   */
  observe(now?: number): void {
    if (this.#length === 0) return;
    now ??= performance.now();
    const wallNow = Date.now();
    for (let i = 0; i < this.#length; i++) {
      this.#observe(this.#results[i]!, now, wallNow);
      this.#results[i] = undefined;
    }
    this.#length = 0;
  }

  #observe(times: ResultTimes, now: number, wallNow: number): void {
    const { event, timing, accepted } = times;
    times.accepted = 0;
    this.count += accepted;
    if (timing) timing.operation.tally.deliveries += accepted;
    if (!event || !timing || !this.#observations) return;
    const { latency, wait, execute, write } = this.#observations;
    latency.observe((wallNow - event.recordedAt) / 1000, accepted, event.traceId);
    // A full queue is written during the timing.
    const endedAt = timing.endedAt || now;
    wait.observe((timing.startedAt - event.receivedAt) / 1000, accepted);
    execute.observe((endedAt - timing.startedAt) / 1000 / timing.executions, accepted);
    write.observe((now - endedAt) / 1000, accepted);
  }
}
