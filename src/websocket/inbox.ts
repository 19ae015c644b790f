/** For how long, in ms, one turn of the event loop may handle messages of clients; the rest waits for the next turns. */
const SLICE_MS = 3;

/** A connection, to the inbox. */
export interface Recipient {
  /** Handles one message. Never throws. */
  onTurn(data: Buffer): void;
}

interface WaitingMessage {
  readonly recipient: Recipient;
  readonly data: Buffer;
}

/**
 * Messages of all clients, in the order in which they came: handled at once while a turn of the event loop has spent no more
 * than its slice on them. A recipient reads nothing more while it has a message here, so what waits is bounded by what its
 * socket had read.
 */
export class Inbox {
  readonly #waiting: WaitingMessage[] = [];
  #spentMs = 0;
  #isScheduled = false;

  /** Returns whether the message was handled; else it waits. */
  receive(recipient: Recipient, data: Buffer): boolean {
    if (this.#waiting.length === 0 && this.#spentMs < SLICE_MS) {
      this.#handle(recipient, data);
      return true;
    }
    this.#waiting.push({ recipient, data });
    return false;
  }

  #handle(recipient: Recipient, data: Buffer): void {
    const startedAt = performance.now();
    recipient.onTurn(data);
    this.#spentMs += performance.now() - startedAt;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false;
    this.#spentMs = 0;
    let handled = 0;
    while (handled < this.#waiting.length && this.#spentMs < SLICE_MS) {
      const { recipient, data } = this.#waiting[handled++]!;
      this.#handle(recipient, data);
    }
    this.#waiting.splice(0, handled);
  };
}
