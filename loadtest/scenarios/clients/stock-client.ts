import { createClient } from 'graphql-ws';
import type { Client as GraphqlWsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { createClient as createResumingClient } from '../../../client/client.ts';
import type { Client, ClientOwner, ClientPlan } from './client.ts';

interface Extensions {
  readonly gap?: true;
  readonly resumed?: boolean;
}

/** The graphql-ws client with default settings, except for endless retries; or, with its `create`, @crier/client. */
export class StockClient implements Client {
  readonly #plan: ClientPlan;
  readonly #owner: ClientOwner;
  readonly #create: typeof createClient | typeof createResumingClient;
  #client: GraphqlWsClient | undefined;

  constructor(
    plan: ClientPlan,
    owner: ClientOwner,
    create: typeof createClient | typeof createResumingClient = createClient,
  ) {
    this.#plan = plan;
    this.#owner = owner;
    this.#create = create;
  }

  start(): void {
    const isCurrent = (): boolean => this.#client === client;
    // @crier/client also sends pings of its own: only the first pong of a connection counts.
    let isReady = false;
    const client: GraphqlWsClient = this.#create({
      url: `ws://127.0.0.1:${this.#plan.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      on: {
        connecting: () => {
          isReady = false;
          if (isCurrent()) this.#owner.onConnecting();
        },
        // The subscribe messages are sent after this turn's microtasks.
        connected: (socket) => void setImmediate(() => (socket as WebSocket).send('{"type":"ping"}')),
        pong: (isReceived) => {
          if (!isReceived || isReady || !isCurrent()) return;
          isReady = true;
          this.#owner.onReady();
        },
        closed: (event) => isCurrent() && this.#owner.onClosed((event as { code: number }).code),
      },
    });
    this.#client = client;
    this.#plan.interests.forEach(({ query, variables }, place) =>
      client.subscribe(
        { query, variables },
        {
          next: (payload) => {
            if (!isCurrent()) return;
            const { gap, resumed } = (payload.extensions ?? {}) as Extensions;
            if (gap === true || resumed === false) this.#owner.onGap();
            this.#owner.onResult(place, payload);
          },
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
