import type { Wait } from '../outbox/wait-list.ts';
import type { EventScheduler } from '../scheduling/event-scheduler.ts';
import type { Subscription } from '../subscription.ts';

/** served: it may have more events; over: the client has them all. */
export type Progress = 'served' | 'over' | Wait;

/** Delivers a few events to one client. */
export interface Turn {
  readonly member: Pick<Subscription, 'awaitRoom' | 'passRoom'>;
  serve(isSpent: () => boolean): Progress;
}

/** Time in ms for which one turn of the event loop may replay: a live event waits for it, and for one write more. */
const SLICE_MS = 2;
/** Time in ms after which a client that waits has a turn although it has no room: time may have run out for it, or the pod is short of memory. */
const SWEEP_MS = 1000;

/**
 * The replays of all channels of a pod: one client after another gets a few events. Each turn of the event loop has one slice, after its
 * live events, also if live events are left to later turns: a flood of them does not keep clients from joining.
 */
export class Replays {
  readonly #scheduler: Pick<EventScheduler, 'scheduleLast'>;
  readonly #flush: () => void;
  /** In the order of their turns. */
  readonly #turns = new Set<Turn>();
  /** Those that wait for room, with what ends the wait. */
  readonly #waiting = new Map<Turn, () => void>();
  #timer: NodeJS.Timeout | undefined;

  /** @param flush writes what results have put into outboxes */
  constructor(scheduler: Pick<EventScheduler, 'scheduleLast'>, flush: () => void) {
    this.#scheduler = scheduler;
    this.#flush = flush;
  }

  /** Serves `turn` in rotation with the others until it is over. */
  add(turn: Turn): void {
    this.#turns.add(turn);
    this.#scheduler.scheduleLast(this.#slice);
  }

  /** Idempotent. */
  delete(turn: Turn): void {
    // It may have been woken for room that it does not use.
    if (this.#turns.delete(turn)) turn.member.passRoom();
    this.#endWait(turn);
  }

  /** The turn need not wait any longer, if it does. */
  wake(turn: Turn): void {
    if (this.#endWait(turn)) this.add(turn);
  }

  /** All those that wait have a turn. */
  readonly wakeAll = (): void => {
    for (const turn of this.#waiting.keys()) this.wake(turn);
  };

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
      if (this.#turns.size > 0) this.#scheduler.scheduleLast(this.#slice);
    }
  };

  #serve(turn: Turn, isSpent: () => boolean): void {
    const progress = turn.serve(isSpent);
    if (progress === 'lagging' || progress === 'behind') return this.#wait(turn, progress);
    if (progress === 'served') this.#turns.add(turn);
    this.#flush();
    turn.member.passRoom();
  }

  #wait(turn: Turn, wait: Wait): void {
    this.#waiting.set(
      turn,
      turn.member.awaitRoom(wait, () => this.wake(turn)),
    );
    this.#timer ??= setTimeout(this.#onSweep, SWEEP_MS).unref();
  }

  /** Returns false if it does not wait. */
  #endWait(turn: Turn): boolean {
    this.#waiting.get(turn)?.();
    return this.#waiting.delete(turn);
  }

  readonly #onSweep = (): void => {
    this.#timer = undefined;
    this.wakeAll();
  };
}
