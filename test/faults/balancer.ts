import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { Scope } from '../support/socket.ts';

/** One address for several servers on loopback, in turn, as a Kubernetes Service is; and a link that can be broken on purpose. */
export class Balancer {
  readonly port: number;
  /** Ports of the servers that are alive. */
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

  /** New links go to this server, too. */
  add(port: number): void {
    this.#targets.push(port);
  }

  /** No new link goes to this server; those that it has stay. */
  remove(port: number): void {
    this.#targets.splice(this.#targets.indexOf(port), 1);
  }

  /** Ends the present links. */
  cut(): void {
    for (const { client, server } of this.#links) {
      client.destroy();
      server?.destroy();
    }
  }

  /** Ends the present links and takes no others, until `restore`. */
  disconnect(): void {
    this.#condition = 'offline';
    this.cut();
  }

  /** The present links stay open and never carry anything again; nor do those that come until `restore`. */
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
