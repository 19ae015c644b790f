import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Distributes TCP connections round-robin over pods. A removed pod keeps its connections. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targets: readonly number[] = [];
  #next = 0;

  constructor() {
    this.#server = createServer((client) => this.#join(client));
  }

  /** Loopback ports of new connections' targets. */
  set targets(ports: readonly number[]) {
    this.#targets = ports;
  }

  /** Resolves with the port. */
  async start(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Idempotent. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket): void {
    if (this.#targets.length === 0) return void client.destroy();
    const pod = connect({
      port: this.#targets[this.#next++ % this.#targets.length]!,
      host: '127.0.0.1',
      noDelay: true,
    });
    client.setNoDelay();
    for (const [from, to] of [
      [client, pod],
      [pod, client],
    ] as const) {
      this.#sockets.add(from);
      // pipe() forwards the end and respects backpressure; `close` forwards an error.
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', (hadError) => {
        this.#sockets.delete(from);
        if (hadError) to.destroy();
      });
    }
  }
}
