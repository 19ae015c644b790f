import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Numbers of requests in Kafka's protocol. */
export const FETCH = 1;
export const LIST_OFFSETS = 2;
export const METADATA = 3;
export const OFFSET_FETCH = 9;

/** The way to a broker's listener without TLS. It ends a connection at each request of one kind, and forwards all others. */
export class KafkaProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** undefined: every request is forwarded. */
  #refused: number | undefined;

  constructor(target: number) {
    this.#server = createServer((client) => this.#join(client, connect(target, '127.0.0.1')));
  }

  /** Listens on a free loopback port. Resolves with `host:port`. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  refuse(request: number | undefined): void {
    this.#refused = request;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, broker: Socket): void {
    let bytes = Buffer.alloc(0);
    client.on('data', (data) => {
      bytes = Buffer.concat([bytes, data]);
      // A request begins with the count of the bytes after that count, and its number.
      while (bytes.length >= 6) {
        const length = bytes.readInt32BE(0) + 4;
        if (bytes.length < length) return;
        if (bytes.readInt16BE(4) === this.#refused) return void client.destroy();
        broker.write(bytes.subarray(0, length));
        bytes = bytes.subarray(length);
      }
    });
    broker.on('data', (data) => void client.write(data));
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
