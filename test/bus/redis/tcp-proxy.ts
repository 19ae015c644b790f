import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Scope } from '../../support/socket.ts';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
  /** Bytes that the client sent while the link was held. */
  held: Buffer[] | undefined;
}

/** A TCP link that can be broken on purpose. */
export class TcpProxy {
  readonly #pairs = new Set<Pair>();
  readonly #cuts: number[] = [];
  #port = 0;
  #target: number;
  readonly #delayMs: number;

  constructor(target: number, delayMs: number) {
    this.#target = target;
    this.#delayMs = delayMs;
  }

  /** Listens on a free loopback port until the scope ends, and forwards to `target`. Delays the server's bytes by `delayMs`. */
  static async start(t: Scope, target: number, delayMs = 0): Promise<TcpProxy> {
    const proxy = new TcpProxy(target, delayMs);
    const server = createServer((client) => proxy.#join(client, connect(proxy.#target, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy.#port = (server.address() as AddressInfo).port;
    t.after(() => {
      proxy.cut();
      server.close();
    });
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** The next links lead to another port; the present ones stay. */
  retarget(port: number): void {
    this.#target = port;
  }

  /** Ends the present links. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Ends each of the next links after the server has sent a count of bytes on it; one count for each link. */
  cutNextAfter(...bytes: number[]): void {
    this.#cuts.push(...bytes);
  }

  /** The clients of the present links receive bytes that the server has not sent. */
  inject(bytes: string | Buffer): void {
    for (const { client } of this.#pairs) client.write(bytes);
  }

  /** The present links stay open and carry no more bytes in either direction. */
  freeze(): void {
    for (const pair of this.#pairs) pair.isFrozen = true;
  }

  /** Reads no more of what the server sends, on the present links, until `unpause`. */
  pause(): void {
    for (const { server } of this.#pairs) server.pause();
  }

  unpause(): void {
    for (const { server } of this.#pairs) server.resume();
  }

  /** Holds the bytes that clients send on the present links until `release`. */
  hold(): void {
    for (const pair of this.#pairs) pair.held ??= [];
  }

  /** Forwards the held bytes, even if the client has gone. */
  release(): void {
    for (const pair of this.#pairs) {
      for (const data of pair.held ?? []) pair.server.write(data);
      pair.held = undefined;
    }
  }

  get heldBytes(): number {
    let bytes = 0;
    for (const { held } of this.#pairs) for (const data of held ?? []) bytes += data.length;
    return bytes;
  }

  #join(client: Socket, server: Socket): void {
    const pair: Pair = { client, server, isFrozen: false, held: undefined };
    this.#pairs.add(pair);
    let left = this.#cuts.shift() ?? Infinity;
    client.on('data', (data) => {
      if (pair.held) pair.held.push(data);
      else if (!pair.isFrozen) server.write(data);
    });
    const toClient = (data: Buffer) => {
      if (pair.isFrozen || client.destroyed) return;
      client.write(data.subarray(0, left));
      left -= data.length;
      if (left <= 0) client.destroySoon();
    };
    server.on('data', (data) => void (this.#delayMs > 0 ? setTimeout(toClient, this.#delayMs, data) : toClient(data)));
    for (const socket of [client, server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
  }
}
