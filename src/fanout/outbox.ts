import { WebSocket } from 'ws';

export interface OutboxOwner {
  /** Closes the connection. */
  onSlowConsumer(): void;
}

/**
 * Everything that leaves for one connection, in order. What the peer does not read waits in the socket's queue, up to a
 * bound in bytes; past it the peer is a slow consumer and its connection is closed. No other connection waits.
 */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #maxQueueBytes: number;
  readonly #owner: OutboxOwner;
  #isSlow = false;

  constructor(socket: WebSocket, maxQueueBytes: number, owner: OutboxOwner) {
    this.#socket = socket;
    this.#maxQueueBytes = maxQueueBytes;
    this.#owner = owner;
  }

  /** Returns whether the message was accepted: not on a connection that is closing, or that this message made slow. */
  send(message: string): boolean {
    const socket = this.#socket;
    // send() on a closing socket would still add to its queue.
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(message);
    if (socket.bufferedAmount <= this.#maxQueueBytes) return true;
    this.refuse();
    return false;
  }

  /** The peer, or what is computed for it, cannot keep up. Idempotent. */
  refuse(): void {
    if (this.#isSlow) return;
    this.#isSlow = true;
    this.#owner.onSlowConsumer();
  }
}
