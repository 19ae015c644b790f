import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Fifo } from '../../base/fifo.ts';

/** Each holds its headers, up to 16 KB. */
export const MAX_WAITING_HANDSHAKES = 4096;

interface Handshake {
  readonly socket: Duplex;
  readonly run: () => void;
}

/**
 * WebSocket handshakes in their order of arrival. A turn of the event loop reads every socket that has sent something, so the handshakes of
 * a crowd would all run in one turn, and nobody else would have one for hundreds of milliseconds. Here they wait for the scheduler of events.
 * Beyond `MAX_WAITING_HANDSHAKES` each new one runs the oldest at once.
 */
export class Handshakes {
  readonly #waiting = new Fifo<Handshake>();
  #hasNewSocket = false;
  #onWaiting = (): void => undefined;

  /** Notices sockets that the kernel hands to the server. */
  watch(server: Server): void {
    server.on('connection', () => (this.#hasNewSocket = true));
  }

  /** @param onWaiting called when a handshake waits; `run` must follow */
  start(onWaiting: () => void): void {
    this.#onWaiting = onWaiting;
  }

  get areWaiting(): boolean {
    return !this.#waiting.isEmpty;
  }

  /** @param run must not throw. It is not called if the socket has closed meanwhile */
  add(socket: Duplex, run: () => void): void {
    // Node.js has removed its own listener, and an error without one ends the process.
    socket.on('error', ignore);
    this.#waiting.add({ socket, run });
    if (this.#waiting.length > MAX_WAITING_HANDSHAKES) this.run(0);
    this.#onWaiting();
  }

  /** True if another turn of the event loop brings a connection or a handshake nearer. */
  takeArrivals(): boolean {
    const hasNewSocket = this.#hasNewSocket;
    this.#hasNewSocket = false;
    return hasNewSocket || this.areWaiting;
  }

  /** Runs handshakes, one at least, until none waits or `ms` are over. */
  run(ms: number): void {
    const endsAt = performance.now() + ms;
    while (!this.#waiting.isEmpty) {
      const { socket, run } = this.#waiting.take();
      socket.off('error', ignore);
      if (!socket.destroyed) run();
      if (performance.now() >= endsAt) break;
    }
  }
}

function ignore(): void {
  // The socket closes.
}
