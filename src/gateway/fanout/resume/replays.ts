import type { EventScheduler } from '../scheduling/event-scheduler.ts';

/** served: it may have more events; waiting: the client's socket lags; over: it has them all. */
export type Progress = 'served' | 'waiting' | 'over';

/** Delivers a few events to one client. */
export type Turn = (isSpent: () => boolean) => Progress;

/** Time in ms for which one turn of the event loop may replay: a live event waits for it, and for one write more. */
const SLICE_MS = 2;
/** Time in ms after which a lagging client has its next turn. */
const WAIT_MS = 10;

/**
 * The replays of all channels of a pod: one client after another gets a few events. Each turn of the event loop has one slice, after its
 * live events, also if live events are left to later turns: a flood of them does not keep clients from joining.
 */
export class Replays {
  readonly #scheduler: Pick<EventScheduler, 'scheduleLast'>;
  readonly #flush: () => void;
  /** In the order of their turns. */
  readonly #turns = new Set<Turn>();
  /** Of lagging clients. */
  #waiting: Turn[] = [];

  /** @param flush writes what results have put into outboxes */
  constructor(scheduler: Pick<EventScheduler, 'scheduleLast'>, flush: () => void) {
    this.#scheduler = scheduler;
    this.#flush = flush;
  }

  /** Calls `turn` in rotation with the others until it returns `over`. */
  add(turn: Turn): void {
    this.#turns.add(turn);
    this.#schedule();
  }

  readonly #slice = (): void => {
    const endsAt = performance.now() + SLICE_MS;
    const isSpent = () => performance.now() >= endsAt;
    try {
      for (const turn of this.#turns) {
        this.#turns.delete(turn);
        this.#serve(turn, isSpent);
        if (isSpent()) break;
      }
    } finally {
      if (this.#turns.size > 0) this.#schedule();
    }
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
    this.#scheduler.scheduleLast(this.#slice);
  }
}
