import type { Backlog } from './backlog.ts';

/** served: there may be more; waiting: its client cannot take more now. */
export type Progress = 'served' | 'waiting' | 'over';

/** Serves one client a few of its events. */
export type Turn = (isSpent: () => boolean) => Progress;

/** For how long, in ms, one turn of the event loop may replay: live events come first. */
const SLICE_MS = 4;
/** How often clients that cannot take more are looked at. */
const WAIT_MS = 10;

/** The replays of all channels of a pod: one client after another gets a few events, in slices between the live events. */
export class Replays {
  readonly #backlog: Backlog;
  readonly #flush: () => void;
  /** In the order in which they have their turns. */
  readonly #turns = new Set<Turn>();
  #isScheduled = false;

  /** @param flush writes what results have put into outboxes */
  constructor(backlog: Backlog, flush: () => void) {
    this.#backlog = backlog;
    this.#flush = flush;
  }

  /** Takes turns with the others until it is over. */
  add(turn: Turn): void {
    this.#turns.add(turn);
    this.#schedule(false);
  }

  readonly #slice = (): boolean => {
    const endsAt = performance.now() + SLICE_MS;
    const isSpent = () => performance.now() >= endsAt;
    let left = this.#turns.size;
    let isIdle = true;
    this.#isScheduled = false;
    try {
      for (const turn of this.#turns) {
        if (left-- === 0) break;
        this.#turns.delete(turn);
        const progress = turn(isSpent);
        if (progress !== 'over') this.#turns.add(turn);
        if (progress === 'waiting') continue;
        isIdle = false;
        this.#flush();
        if (isSpent()) break;
      }
    } finally {
      if (this.#turns.size > 0) this.#schedule(isIdle);
    }
    return true;
  };

  /** In a later turn of the event loop, so that whoever finishes the backlog does not finish all replays. */
  #schedule(isIdle: boolean): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (isIdle) setTimeout(this.#enqueue, WAIT_MS).unref();
    else setImmediate(this.#enqueue);
  }

  readonly #enqueue = (): void => this.#backlog.enqueue(this.#slice);
}
