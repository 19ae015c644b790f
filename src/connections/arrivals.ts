import type { Server } from 'node:http';

/** Notices sockets that the kernel hands to an HTTP server. */
export class Arrivals {
  #hasNew = false;

  watch(server: Server): void {
    server.on('connection', () => (this.#hasNew = true));
  }

  /** True if a socket has arrived since the last call. */
  readonly take = (): boolean => {
    const hasNew = this.#hasNew;
    this.#hasNew = false;
    return hasNew;
  };
}
