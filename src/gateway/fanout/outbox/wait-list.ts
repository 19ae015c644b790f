/** Callbacks of the subscriptions that wait for one client, in the order in which these go on. */
export class WaitList {
  readonly #waiting = new Set<() => void>();

  add(onRoom: () => void): void {
    this.#waiting.add(onRoom);
  }

  delete(onRoom: () => void): void {
    this.#waiting.delete(onRoom);
  }

  /** Lets the first one go on, which takes as much room as it needs. For the next one this is called again. */
  wakeNext(): void {
    const [onRoom] = this.#waiting;
    if (!onRoom) return;
    this.#waiting.delete(onRoom);
    onRoom();
  }
}

/** Why they wait: `isLagging` or `isBehind` of a subscription. */
export type Wait = 'lagging' | 'behind';

/** The wait lists of one outbox. */
export class WaitLists {
  /** Until the kernel accepts more. */
  readonly lagging = new WaitList();
  /** Until the kernel accepts more, or the client has read. */
  readonly behind = new WaitList();

  wakeNext(): void {
    this.lagging.wakeNext();
    this.behind.wakeNext();
  }
}
