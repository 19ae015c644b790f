import type { Backlog } from '../backlog.ts';

/** served: there may be more; waiting: its client cannot take more now. */
export type Progress = 'served' | 'waiting' | 'over';

/** Serves one client a few of its events. */
export type Turn = (isSpent: () => boolean) => Progress;

/** For how long, in ms, one turn of the event loop may replay: a live event waits for it, and for one write more. */
const SLICE_MS = 2;
/** How often clients that cannot take more are looked at. */
const WAIT_MS = 10;

/** The replays of all channels of a pod: one client after another gets a few events, in slices behind the live events. */
export class Replays {
  readonly #backlog: Backlog;
  readonly #flush: () => void;
  /** In the order in which they have their turns. */
  readonly #turns = new Set<Turn>();
  /** Of clients that cannot take more. */
  #waiting: Turn[] = [];
  #isScheduled = false;

  /** @param flush writes what results have put into outboxes */
  constructor(backlog: Backlog, flush: () => void) {
    this.#backlog = backlog;
    this.#flush = flush;
  }

  /** Takes turns with the others until it is over. */
  add(turn: Turn): void {
    this.#turns.add(turn);
    this.#schedule();
  }

  readonly #slice = (): boolean => {
    const endsAt = performance.now() + SLICE_MS;
    const isSpent = () => performance.now() >= endsAt;
    this.#isScheduled = false;
    try {
      for (const turn of this.#turns) {
        this.#turns.delete(turn);
        this.#serve(turn, isSpent);
        if (isSpent()) break;
      }
    } finally {
      if (this.#turns.size > 0) this.#schedule();
    }
    return true;
  };

  #serve(turn: Turn, isSpent: () => boolean): void {
    const progress = turn(isSpent);
    if (progress === 'waiting') return this.#wait(turn);
    if (progress === 'served') this.#turns.add(turn);
    this.#flush();
  }

  #wait(turn: Turn): void {
    if (this.#waiting.push(turn) === 1) setTimeout(this.#onWaited, WAIT_MS).unref();
  }

  readonly #onWaited = (): void => {
    for (const turn of this.#waiting) this.#turns.add(turn);
    this.#waiting = [];
    this.#schedule();
  };

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  /** A slice in each turn of the event loop, behind the live events that the turn brought. */
  readonly #onTurn = (): void => {
    if (this.#backlog.isIdle) this.#slice();
    else this.#backlog.enqueue(this.#slice);
  };
}
