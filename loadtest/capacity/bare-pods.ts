import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** Longest wait for messages, in ms. */
const ARRIVAL_TIMEOUT_MS = 10_000;

/** Connections that subscribe to one sharded channel, as the pods of a fleet do, and count the bytes that arrive. */
export class BarePods {
  readonly #sockets: readonly Socket[];
  #bytes = 0;
  #wanted = Infinity;
  #onWanted: (() => void) | undefined;

  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets;
    for (const socket of sockets) {
      socket.on('data', ({ length }) => {
        this.#bytes += length;
        if (this.#bytes >= this.#wanted) this.#onWanted?.();
      });
    }
  }

  /** Resolves when Redis has acknowledged each subscription. */
  static async open(port: number, channel: string, count: number): Promise<BarePods> {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
    await Promise.all(
      sockets.map(async (socket) => {
        await once(socket, 'connect');
        socket.write(`*2\r\n$10\r\nSSUBSCRIBE\r\n$${Buffer.byteLength(channel)}\r\n${channel}\r\n`);
        await once(socket, 'data');
      }),
    );
    return new BarePods(sockets);
  }

  /** Resolves when all pods together have received this many bytes more than at the call. @throws Error after 10 s */
  async received(bytes: number): Promise<void> {
    this.#wanted = this.#bytes + bytes;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('messages were lost')), ARRIVAL_TIMEOUT_MS);
      this.#onWanted = () => {
        clearTimeout(timer);
        this.#wanted = Infinity;
        resolve();
      };
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Bytes of a message of a sharded channel, as Redis writes it (RESP2). */
export function messageBytes(channel: string, payloadBytes: number): number {
  const header = `*3\r\n$8\r\nsmessage\r\n$${Buffer.byteLength(channel)}\r\n${channel}\r\n$${payloadBytes}\r\n`;
  return Buffer.byteLength(header) + payloadBytes + 2;
}
