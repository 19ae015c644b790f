import { Deliveries } from './deliveries.ts';
import type { DeliveryObservations } from './deliveries.ts';
import { Scratch } from './scratch.ts';

/** One connection's queue, as the writer sees it (`Outbox`). */
export interface WritableOutbox {
  /** Bytes of messages that the kernel has not accepted. */
  readonly queuedBytes: number;
  /** Time at which the socket became backpressured, or the router accepted the last post, of performance.now(). */
  readonly blockedSince: number;
  /** The outbox's turn: it writes what the kernel accepts. Must not throw. */
  onTurn(): void;
  /** Closes the connection as a slow consumer. Idempotent. */
  refuse(): void;
}

export interface WriterOptions {
  /** Bound of one connection's queue, or four of its largest message if these are more. Beyond it the connection is a slow consumer. */
  readonly maxQueueBytes: number;
  /** Bound of all queues together. Beyond it the connections with the largest queues are slow consumers. */
  readonly maxPodQueueBytes: number;
  /** False: each message is a write of its own, as with `ws`. Default: true. */
  readonly hasBatching?: boolean;
  /** undefined: messages are only counted. */
  readonly observations?: DeliveryObservations;
}

/** Time in ms for which one turn of the event loop may write; then sockets and timers have their turn. */
const SLICE_MS = 10;
/** Beyond it, waiting messages are written before more events are executed. */
const FULL_BYTES = 16 * 1024 * 1024;
/** Bytes of all queues at which the gateway is full, if most of its sockets are backpressured: network or clients are slower than the gateway. */
const FULL_QUEUES_BYTES = 32 * 1024 * 1024;
/** A socket that has not accepted a write for this time, in ms, is stuck. */
const STUCK_MS = 1000;
/** Writes between two reads of the clock, so that these cost nothing beside the work. */
const WRITES_BETWEEN_CHECKS = 16;
/** Writes after which their times are observed, which is dear beside a few writes: about a millisecond. The end of a turn observes the others. */
const WRITES_BETWEEN_OBSERVATIONS = 128;

/** Writes the messages that a turn of the event loop left in the outboxes of a pod, one outbox after another, in the order they were scheduled. */
export class Writer {
  /** `WriterOptions.maxQueueBytes`. A change acts at the next message of each connection. */
  maxQueueBytes: number;
  /** `WriterOptions.maxPodQueueBytes`. A change acts at the next message. */
  maxPodQueueBytes: number;
  /** Called before messages are written, but for those that precede a close: closes the connections that must not receive them. */
  beforeWrites: (() => void) | undefined;
  /** True: the messages that an outbox has at its turn leave in one write. */
  readonly hasBatching: boolean;
  readonly scratch = new Scratch();
  readonly deliveries: Deliveries;
  /** Outboxes whose sockets are backpressured, or whose posts a router has not accepted. */
  readonly backpressured = new Set<WritableOutbox>();
  #queuedBytes = 0;
  #unobservedWrites = 0;
  readonly #waiting: WritableOutbox[] = [];
  #isScheduled = false;

  constructor(options: WriterOptions) {
    this.maxQueueBytes = options.maxQueueBytes;
    this.maxPodQueueBytes = options.maxPodQueueBytes;
    this.hasBatching = options.hasBatching ?? true;
    this.deliveries = new Deliveries(options.observations);
  }

  /** Bytes of messages that wait for backpressured sockets. */
  get backpressuredBytes(): number {
    let bytes = 0;
    for (const { queuedBytes } of this.backpressured) bytes += queuedBytes;
    return bytes;
  }

  /** Bytes of the largest of these queues. */
  get largestQueueBytes(): number {
    let largest = 0;
    for (const { queuedBytes } of this.backpressured) largest = Math.max(largest, queuedBytes);
    return largest;
  }

  /** True if every scheduled outbox has had its turn: what is not written waits for backpressured sockets. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** True if the queues hold more than FULL_BYTES: they should be written before more events are executed. */
  get isFull(): boolean {
    return this.#queuedBytes > FULL_BYTES;
  }

  /**
   * How full the queues are, from 0 to 1 and above, if most of the sockets are backpressured; else 0. Stuck sockets do not count: they are
   * closed when their own queues are full.
   */
  fillOf(sockets: number): number {
    if (this.backpressured.size <= sockets / 2) return 0;
    const since = performance.now() - STUCK_MS;
    const reading = [...this.backpressured].filter(({ blockedSince }) => blockedSince > since);
    if (reading.length <= sockets / 2) return 0;
    return reading.reduce((bytes, { queuedBytes }) => bytes + queuedBytes, 0) / FULL_QUEUES_BYTES;
  }

  /** Adds to the bytes of all queues; negative when they leave. */
  count(bytes: number): void {
    this.#queuedBytes += bytes;
  }

  /** Gives the outbox its turn at the end of this turn of the event loop, or at the next `flush`. */
  schedule(outbox: WritableOutbox): void {
    this.#waiting.push(outbox);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  /** Writes the scheduled outboxes, for no longer than a slice. */
  readonly flush = (): void => {
    const outboxes = this.#waiting;
    if (outboxes.length > 0) this.beforeWrites?.();
    const endsAt = performance.now() + SLICE_MS;
    let written = 0;
    while (written < outboxes.length) {
      outboxes[written++]!.onTurn();
      if (written % WRITES_BETWEEN_CHECKS === 0 && performance.now() >= endsAt) break;
    }
    this.#unobservedWrites += written;
    if (this.#unobservedWrites >= WRITES_BETWEEN_OBSERVATIONS) this.#observe();
    if (written === outboxes.length) outboxes.length = 0;
    else outboxes.splice(0, written);
  };

  /** If all queues together are too large: writes what the kernel accepts, then closes backpressured connections, the largest queue first. */
  keepBound(): void {
    if (this.#queuedBytes <= this.maxPodQueueBytes) return;
    this.beforeWrites?.();
    for (const outbox of this.#waiting.splice(0)) outbox.onTurn();
    this.deliveries.observe();
    while (this.#queuedBytes > this.maxPodQueueBytes) {
      let largest: WritableOutbox | undefined;
      for (const outbox of this.backpressured)
        if (!largest || outbox.queuedBytes > largest.queuedBytes) largest = outbox;
      if (!largest) return;
      largest.refuse();
    }
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.flush();
    this.#observe();
    if (this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  };

  #observe(): void {
    this.#unobservedWrites = 0;
    this.deliveries.observe();
  }
}
