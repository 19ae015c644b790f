/** What a sweep finds. `late`: a message was begun before the last sweep and is not complete; `silent`: nothing has come since then. */
export type Silence = 'late' | 'silent' | undefined;

/** Notices a peer from which nothing has come between two sweeps. */
export class PeerSilence {
  /** `bytesRead` of the stream at the last sweep; -1: unknown. */
  #sweptBytes = -1;
  /** True if the last sweep found an incomplete message and no message has been completed since. */
  #isMessageOverdue = false;

  onMessage(): void {
    this.#isMessageOverdue = false;
  }

  /** The next sweep finds nothing. */
  forget(): void {
    this.#sweptBytes = -1;
    this.#isMessageOverdue = false;
  }

  /** @param bytesRead undefined: the peer may be silent */
  sweep(isMessageIncomplete: boolean, bytesRead: number | undefined): Silence {
    if (isMessageIncomplete) {
      if (this.#isMessageOverdue) return 'late';
      this.#isMessageOverdue = true;
    }
    if (bytesRead === undefined) return undefined;
    if (bytesRead === this.#sweptBytes) return 'silent';
    this.#sweptBytes = bytesRead;
    return undefined;
  }
}
