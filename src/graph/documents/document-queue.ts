import { OverloadedError, errorOf } from '../../base/errors.ts';

export interface DocumentQueueOptions {
  /** Time for documents in one turn of the event loop, in ms; at least one document is done. */
  readonly sliceMs: number;
  /** True while live events flow: they have priority. */
  readonly hasEvents: () => boolean;
  /** Share of a core for all lanes together while live events flow. */
  readonly totalShare: number;
  /** Limit for all waiting documents; past it the newest document of the largest lane is refused. */
  readonly maxBytes: number;
  /** A document that has waited longer, in ms, is refused at its turn. */
  readonly maxWaitMs: number;
  /**
   * CPU time that a lane may use at once, in ms, and the share of a core at which it is refilled. CPU time, so that a client is not
   * charged for other programs on the machine.
   */
  readonly burstMs: number;
  readonly share: number;
}

/** Charged for each document beside its own bytes, so that `maxBytes` bounds their count, too. */
const BYTES_PER_DOCUMENT = 1024;
/** Bounds of `retryAfterMs`. Up to as much again is added at random, so that not all clients retry at once. */
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** Weight of the last document in the average. */
const AVERAGE_WEIGHT = 0.05;

/** Charged for the CPU time that a client's documents take. */
export interface Payer {
  charge(cpuMs: number): void;
}

/** A document in the queue. */
interface WaitingDocument {
  readonly lane: DocumentLane;
  readonly bytes: number;
  readonly addedAt: number;
  readonly run: () => void;
  readonly refuse: (retryAfterMs: number) => void;
}

/** Documents of one client, done in order; lanes take turns. Only the queue writes to its fields. */
export class DocumentLane implements Payer {
  readonly waiting: WaitingDocument[] = [];
  /** Its part of the burst and of the share of a lane; more than 1: it stands for so many clients. */
  parts = 1;
  bytes = 0;
  /** CPU time that the lane may still use, in ms; negative if the last document took more. */
  creditMs = Infinity;
  creditedAt = 0;

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  charge(cpuMs: number): void {
    this.creditMs -= cpuMs;
  }
}

/** Work in the queue. */
export interface QueuedWork<T> {
  /** @throws what the work throws, or OverloadedError. Does not settle once the work is cancelled. */
  readonly done: Promise<T>;
  /** Removes the work if it still waits. Idempotent. */
  readonly cancel: () => void;
}

/**
 * Parses and validates documents that are not cached, within a time budget for each turn of the event loop and after the live events of
 * that turn. Lanes take turns, one document each. Documents of a lane that has used more than its share are refused, and so are
 * documents that wait too long and those past `maxBytes`.
 */
export class DocumentQueue {
  readonly #options: DocumentQueueOptions;
  /** Lanes with work, in the order of their turns. */
  readonly #lanes = new Set<DocumentLane>();
  #bytes = 0;
  #count = 0;
  #averageMs = 0;
  #refused = 0;
  #isScheduled = false;
  /** When the queue may work again, while live events flow. */
  #restsUntil = 0;

  constructor(options: DocumentQueueOptions) {
    this.#options = options;
  }

  /** Count of waiting documents. */
  get size(): number {
    return this.#count;
  }

  /** Count of documents refused so far. */
  get refused(): number {
    return this.#refused;
  }

  /** @param bytes memory of the work while it waits */
  add<T>(lane: DocumentLane, bytes: number, work: () => T): QueuedWork<T> {
    let cancel = () => {};
    const done = new Promise<T>((resolve, reject) => {
      const document: WaitingDocument = {
        lane,
        bytes: bytes + BYTES_PER_DOCUMENT,
        addedAt: performance.now(),
        run: () => {
          try {
            resolve(work());
          } catch (error) {
            reject(errorOf(error));
          }
        },
        refuse: (retryAfterMs) => reject(new OverloadedError(retryAfterMs)),
      };
      cancel = () => this.#remove(document);
      this.#admit(document);
    });
    return { done, cancel };
  }

  #admit(document: WaitingDocument): void {
    const { lane } = document;
    const missingMs = this.#missingCredit(lane, document.addedAt);
    if (missingMs > 0) return this.#refuse(document, missingMs / (lane.parts * this.#options.share));
    lane.waiting.push(document);
    this.#lanes.add(lane);
    this.#count++;
    this.#charge(lane, document.bytes);
    while (this.#bytes > this.#options.maxBytes) this.#refuse(this.#heaviest().waiting.at(-1)!, this.#drainMs);
    this.#schedule();
  }

  #remove(document: WaitingDocument): void {
    const { lane, bytes } = document;
    const index = lane.waiting.indexOf(document);
    if (index < 0) return;
    lane.waiting.splice(index, 1);
    this.#count--;
    this.#charge(lane, -bytes);
    if (lane.isEmpty) this.#lanes.delete(lane);
  }

  #refuse(document: WaitingDocument, afterMs: number): void {
    this.#remove(document);
    this.#refused++;
    const retryMs = Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, afterMs));
    document.refuse(Math.round(retryMs * (1 + Math.random())));
  }

  #charge(lane: DocumentLane, bytes: number): void {
    lane.bytes += bytes;
    this.#bytes += bytes;
  }

  #heaviest(): DocumentLane {
    let heaviest: DocumentLane | undefined;
    for (const lane of this.#lanes) if (!heaviest || lane.bytes > heaviest.bytes) heaviest = lane;
    return heaviest!;
  }

  /** Estimated time until all waiting documents are done, in ms. */
  get #drainMs(): number {
    const { hasEvents, totalShare } = this.#options;
    return (this.#count * this.#averageMs) / (hasEvents() ? totalShare : 1);
  }

  /** CPU time in ms that the lane must still be credited before its next document; 0: none. */
  #missingCredit(lane: DocumentLane, nowMs: number): number {
    const { burstMs, share } = this.#options;
    lane.creditMs = Math.min(lane.parts * burstMs, lane.creditMs + (nowMs - lane.creditedAt) * lane.parts * share);
    lane.creditedAt = nowMs;
    return Math.max(0, -lane.creditMs);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const restMs = this.#restsUntil - performance.now();
    if (restMs > 0) setTimeout(this.#onRested, restMs);
    else this.#onRested();
  }

  /** Two immediates, because live events that arrive in this turn are served in its first. */
  readonly #onRested = (): void => void setImmediate(() => setImmediate(this.#onTurn));

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    const { sliceMs, hasEvents, totalShare } = this.#options;
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const tookMs = new Map<DocumentLane, number>();
    let nowMs = startedAt;
    for (const lane of this.#lanes) {
      const laneStartedAt = nowMs;
      this.#next(lane, laneStartedAt);
      nowMs = performance.now();
      tookMs.set(lane, (tookMs.get(lane) ?? 0) + nowMs - laneStartedAt);
      if (nowMs >= startedAt + sliceMs) break;
    }
    const { user, system } = process.cpuUsage(cpuBefore);
    const sliceTookMs = nowMs - startedAt;
    const cpuShare = Math.min(1, (user + system) / 1000 / sliceTookMs) || 0;
    for (const [lane, ms] of tookMs) lane.charge(ms * cpuShare);
    if (hasEvents()) this.#restsUntil = nowMs + sliceTookMs * (1 / totalShare - 1);
    if (this.#lanes.size > 0) this.#schedule();
  };

  /** Does a lane's first document and moves the lane to the end: the loop above reaches it again after all others. */
  #next(lane: DocumentLane, nowMs: number): void {
    const document = lane.waiting[0]!;
    if (nowMs - document.addedAt > this.#options.maxWaitMs) this.#refuse(document, this.#drainMs);
    else {
      this.#remove(document);
      document.run();
      this.#averageMs += (performance.now() - nowMs - this.#averageMs) * AVERAGE_WEIGHT;
    }
    if (lane.isEmpty) return;
    this.#lanes.delete(lane);
    this.#lanes.add(lane);
  }
}
