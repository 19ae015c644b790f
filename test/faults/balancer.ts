import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Scope } from '../support/socket.ts';

/** One loopback address that distributes connections over several servers, like a Kubernetes Service. Its links can be broken. */
export class Balancer {
  readonly port: number;
  /** Ports of the servers in rotation. */
  readonly #targets: number[];
  readonly #links = new Set<Link>();
  #turn = 0;
  #condition: 'open' | 'offline' | 'frozen' = 'open';

  private constructor(port: number, targets: readonly number[]) {
    this.port = port;
    this.#targets = [...targets];
  }

  static async start(scope: Scope, targets: readonly number[]): Promise<Balancer> {
    const server = createServer({ noDelay: true }, (client) => balancer.#join(client)).listen(0, '127.0.0.1', 8192);
    await once(server, 'listening');
    const balancer = new Balancer((server.address() as AddressInfo).port, targets);
    scope.after(() => {
      balancer.cut();
      server.close();
    });
    return balancer;
  }

  /** Adds this server to the rotation. */
  add(port: number): void {
    this.#targets.push(port);
  }

  /** Removes this server from the rotation. Its links stay. */
  remove(port: number): void {
    this.#targets.splice(this.#targets.indexOf(port), 1);
  }

  /** Ends the current links. */
  cut(): void {
    for (const { client, server } of this.#links) {
      client.destroy();
      server?.destroy();
    }
  }

  /** Ends the current links and refuses new ones until `restore`. */
  disconnect(): void {
    this.#condition = 'offline';
    this.cut();
  }

  /** Makes the current links half-open for good, and new ones until `restore`: they stay open but carry no data. */
  freeze(): void {
    this.#condition = 'frozen';
    for (const link of this.#links) link.isFrozen = true;
  }

  /** New links work again. */
  restore(): void {
    this.#condition = 'open';
  }

  #join(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#condition === 'offline') return void client.destroy();
    const link: Link = { client, server: undefined, isFrozen: this.#condition === 'frozen' };
    this.#links.add(link);
    client.on('close', () => {
      this.#links.delete(link);
      link.server?.destroy();
    });
    client.on('data', (data) => link.isFrozen || link.server?.write(data));
    const target = this.#targets[this.#turn++ % this.#targets.length];
    if (link.isFrozen) return;
    if (target === undefined) return void client.destroy();
    link.server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    link.server.on('data', (data) => link.isFrozen || client.write(data));
    link.server.on('error', () => undefined);
    link.server.on('close', () => client.destroy());
  }
}

interface Link {
  readonly client: Socket;
  server: Socket | undefined;
  isFrozen: boolean;
}
