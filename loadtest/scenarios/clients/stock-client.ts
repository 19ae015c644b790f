import { createClient } from 'graphql-ws';
import type { Client as GraphqlWsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Client, ClientOwner, ClientPlan } from './client.ts';

/** The graphql-ws client with default settings, except for endless retries. */
export class StockClient implements Client {
  readonly #plan: ClientPlan;
  readonly #owner: ClientOwner;
  #client: GraphqlWsClient | undefined;

  constructor(plan: ClientPlan, owner: ClientOwner) {
    this.#plan = plan;
    this.#owner = owner;
  }

  start(): void {
    const isCurrent = (): boolean => this.#client === client;
    const client: GraphqlWsClient = createClient({
      url: `ws://127.0.0.1:${this.#plan.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      on: {
        connecting: () => isCurrent() && this.#owner.onConnecting(),
        // The subscribe messages are sent after this turn's microtasks.
        connected: (socket) => void setImmediate(() => (socket as WebSocket).send('{"type":"ping"}')),
        pong: (isReceived) => isReceived && isCurrent() && this.#owner.onReady(),
        closed: (event) => isCurrent() && this.#owner.onClosed((event as { code: number }).code),
      },
    });
    this.#client = client;
    this.#plan.interests.forEach(({ query, variables }, place) =>
      client.subscribe(
        { query, variables },
        {
          next: (payload) => isCurrent() && this.#owner.onResult(place, payload),
          error: (error) => isCurrent() && this.#owner.onFailure(`error: ${JSON.stringify(error)}`),
          complete: () => isCurrent() && this.#owner.onFailure('complete'),
        },
      ),
    );
  }

  reconnect(): void {
    this.stop();
    this.#owner.onClosed(1000);
    this.start();
  }

  stop(): void {
    const client = this.#client;
    this.#client = undefined;
    void client?.dispose();
  }
}
