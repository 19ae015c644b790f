import type { createClient, Client as GraphqlWsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { createClient as createResumingClient } from '../../../client/client.ts';
import type { Interest } from '../load/interests.ts';

/** Callbacks for the owner of a client, which takes the times. */
export interface ClientOwner {
  /** The client opens a connection. */
  onConnecting(): void;
  /** The connection is acknowledged, and a ping after the subscribe messages was answered. */
  onReady(): void;
  /** The connection has ended. `code`: the server's close code; 1006 without one. */
  onClosed(code: number): void;
  /** A result of the subscription at this index of `interests`. */
  onResult(subscription: number, payload: object): void;
  /** The server says that events may have been missed: `gap: true`, or `resumed: false`. */
  onGap(): void;
  /** The server ended a subscription or sent an unexpected message. */
  onFailure(what: string): void;
}

interface Extensions {
  readonly gap?: true;
  readonly resumed?: boolean;
}

/** Connects the graphql-ws client with default settings, except for endless retries; or, with its `create`, @crier/client. */
export function connectClient(
  port: number,
  interests: readonly Interest[],
  owner: ClientOwner,
  create: typeof createClient | typeof createResumingClient,
): void {
  // @crier/client also sends pings of its own: only the first pong of a connection counts.
  let isReady = false;
  const client: GraphqlWsClient = create({
    url: `ws://127.0.0.1:${port}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: Infinity,
    on: {
      connecting: () => {
        isReady = false;
        owner.onConnecting();
      },
      // The subscribe messages are sent after this turn's microtasks.
      connected: (socket) => void setImmediate(() => (socket as WebSocket).send('{"type":"ping"}')),
      pong: (isReceived) => {
        if (!isReceived || isReady) return;
        isReady = true;
        owner.onReady();
      },
      closed: (event) => owner.onClosed((event as { code: number }).code),
    },
  });
  interests.forEach(({ query, variables }, subscription) =>
    client.subscribe(
      { query, variables },
      {
        next: (payload) => {
          const { gap, resumed } = (payload.extensions ?? {}) as Extensions;
          if (gap === true || resumed === false) owner.onGap();
          owner.onResult(subscription, payload);
        },
        error: (error) => owner.onFailure(`error: ${JSON.stringify(error)}`),
        complete: () => owner.onFailure('complete'),
      },
    ),
  );
}
