import type { Outbox } from './outbox.ts';
import { Scratch } from './scratch.ts';

export interface WriterOptions {
  /** Of one connection, or four of its largest message where these are more; past it it is a slow consumer. */
  readonly maxQueueBytes: number;
  /** Of all connections together; past it those with the largest queues are slow consumers. */
  readonly maxPodQueueBytes: number;
}

/** For how long, in ms, one turn of the event loop may write; then sockets and timers have their turn. */
const SLICE_MS = 10;
/** Past it what waits is written before more is computed. */
const FULL_BYTES = 16 * 1024 * 1024;
/** Of all queues together, with most of the sockets behind: a network, or clients, that are slower than this gateway. */
const FULL_QUEUES_BYTES = 32 * 1024 * 1024;
/** A socket that has not taken one write in this time, in ms, is stuck. */
const STUCK_MS = 1000;
/** So that the clock costs nothing beside the work. */
const WRITES_BETWEEN_CHECKS = 16;

/** Writes what a turn of the event loop left in the outboxes of a pod, in the order in which they got it. */
export class Writer {
  readonly maxQueueBytes: number;
  readonly scratch = new Scratch();
  /** Outboxes whose peers do not read as fast as we write. */
  readonly behind = new Set<Outbox>();
  readonly #maxPodQueueBytes: number;
  #queuedBytes = 0;
  readonly #waiting: Outbox[] = [];
  #isScheduled = false;

  constructor(options: WriterOptions) {
    this.maxQueueBytes = options.maxQueueBytes;
    this.#maxPodQueueBytes = options.maxPodQueueBytes;
  }

  /** Of all outboxes: what this turn of the event loop writes, and what slow peers have not taken. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Of those whose peers do not read as fast as we write. */
  get behindBytes(): number {
    let bytes = 0;
    for (const { queuedBytes } of this.behind) bytes += queuedBytes;
    return bytes;
  }

  /** Whether so much waits that it should be written now. */
  get isFull(): boolean {
    return this.#queuedBytes > FULL_BYTES;
  }

  /**
   * How full the queues are where most of the sockets are behind, from 0 to 1 and above; else 0. Sockets that take nothing do not count: they
   * are closed when their own queues are full.
   */
  fillOf(sockets: number): number {
    if (this.behind.size <= sockets / 2) return 0;
    const since = performance.now() - STUCK_MS;
    const reading = [...this.behind].filter(({ behindSince }) => behindSince > since);
    if (reading.length <= sockets / 2) return 0;
    return reading.reduce((bytes, { queuedBytes }) => bytes + queuedBytes, 0) / FULL_QUEUES_BYTES;
  }

  count(bytes: number): void {
    this.#queuedBytes += bytes;
  }

  /** Writes it when this turn ends, or at the next `flush`. */
  schedule(outbox: Outbox): void {
    this.#waiting.push(outbox);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  /** Writes what waits, for no longer than a slice. */
  readonly flush = (): void => {
    const outboxes = this.#waiting;
    const endsAt = performance.now() + SLICE_MS;
    let written = 0;
    while (written < outboxes.length) {
      outboxes[written++]!.onTurn();
      if (written % WRITES_BETWEEN_CHECKS === 0 && performance.now() >= endsAt) break;
    }
    if (written === outboxes.length) outboxes.length = 0;
    else outboxes.splice(0, written);
  };

  /** Where all queues together are too large: writes what can be written, then closes the largest of those that are behind. */
  keepBound(): void {
    if (this.#queuedBytes <= this.#maxPodQueueBytes) return;
    for (const outbox of this.#waiting.splice(0)) outbox.onTurn();
    while (this.#queuedBytes > this.#maxPodQueueBytes) {
      let largest: Outbox | undefined;
      for (const outbox of this.behind) if (!largest || outbox.queuedBytes > largest.queuedBytes) largest = outbox;
      if (!largest) return;
      largest.refuse();
    }
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
    if (this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  };
}
