/** For how long, in ms, one turn of the event loop may handle messages of clients; the rest waits for the next turns. */
const SLICE_MS = 1;

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
 * socket had read. A message's work is also what it leaves to promises: the next one is handled when those have had their turn.
 */
export class Inbox {
  readonly #waiting: WaitingMessage[] = [];
  /** Of this turn's slice. */
  #endsAt = Infinity;
  #isScheduled = false;

  /** Returns whether the message was handled; else it waits. */
  receive(recipient: Recipient, data: Buffer): boolean {
    const isAtOnce = this.#waiting.length === 0 && !this.#isSpent;
    if (!isAtOnce) this.#waiting.push({ recipient, data });
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      this.#endsAt = performance.now() + SLICE_MS;
      setImmediate(this.#onTurn);
    }
    if (isAtOnce) recipient.onTurn(data);
    return isAtOnce;
  }

  get #isSpent(): boolean {
    return performance.now() >= this.#endsAt;
  }

  readonly #onTurn = (): void => {
    this.#endsAt = performance.now() + SLICE_MS;
    this.#next();
  };

  readonly #next = (): void => {
    const message = this.#waiting.shift();
    if (!message) {
      this.#isScheduled = false;
      this.#endsAt = Infinity;
      return;
    }
    message.recipient.onTurn(message.data);
    // A tick that a microtask asks for comes after all microtasks.
    queueMicrotask(() => process.nextTick(this.#afterMessage));
  };

  readonly #afterMessage = (): void => {
    if (this.#isSpent) setImmediate(this.#onTurn);
    else this.#next();
  };
}
