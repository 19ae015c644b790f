import { Fifo } from '../../base/fifo.ts';

/** Time in ms that one turn of the event loop may spend on messages of clients. Further messages wait for the next turns. */
const SLICE_MS = 1;

/** What the inbox needs of a connection. */
export interface Recipient {
  /** Handles one message. Never throws. */
  onTurn(data: Buffer): void;
}

interface WaitingMessage {
  readonly recipient: Recipient;
  readonly data: Buffer;
}

/**
 * Queues the messages of all clients in their order of arrival. A message is handled at once while none waits and the slice of the
 * turn is not spent. A recipient's socket is paused while the recipient has a message here, so the queue is bounded by what the
 * sockets had read. The work of a message includes its promise callbacks: the next message is handled after them.
 */
export class Inbox {
  readonly #waiting = new Fifo<WaitingMessage>();
  /** End of this turn's slice. */
  #endsAt = Infinity;
  #isScheduled = false;

  /** Returns true if the message was handled, false if it waits. */
  receive(recipient: Recipient, data: Buffer): boolean {
    const isAtOnce = this.#waiting.isEmpty && !this.#isSpent;
    if (!isAtOnce) this.#waiting.add({ recipient, data });
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
    if (this.#waiting.isEmpty) {
      this.#isScheduled = false;
      this.#endsAt = Infinity;
      return;
    }
    const { recipient, data } = this.#waiting.take();
    recipient.onTurn(data);
    // A tick that a microtask requests runs after all microtasks.
    queueMicrotask(() => process.nextTick(this.#afterMessage));
  };

  readonly #afterMessage = (): void => {
    if (this.#isSpent) setImmediate(this.#onTurn);
    else this.#next();
  };
}
