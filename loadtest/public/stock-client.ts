import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ClientOptions as SocketOptions } from 'ws';
import { createClient } from '../../client/client.ts';
import type { FleetClient, FleetClientOptions } from './fleet-client.ts';
import { reconnectMs } from './reconnect-delays.ts';

/** @crier/client on `ws`. */
export class StockClient implements FleetClient {
  isOpen = false;
  #socket: WebSocket | undefined;

  constructor(options: FleetClientOptions) {
    const own: SocketOptions = {
      localAddress: options.localAddress,
      perMessageDeflate: false,
      skipUTF8Validation: true,
    };
    const onSocket = (socket: WebSocket) => (this.#socket = socket);
    const client = createClient({
      url: () => `ws://127.0.0.1:${options.port()}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, own);
          onSocket(this);
        }
      },
      retryWait: (attempt) => delay(reconnectMs(attempt, options.delays, options.minOfflineMs)),
    });
    client.on('connected', () => {
      this.isOpen = true;
      options.onConnected();
    });
    client.on('closed', (event) => {
      this.isOpen = false;
      options.onClosed((event as { code?: number }).code ?? 1006);
    });
    client.subscribe<{ auction_updated: { version: number } }>(
      { query: options.query, variables: { auction_id: 1 } },
      {
        next: ({ data, errors }) =>
          data ? options.onVersion(data.auction_updated.version) : options.onFault(JSON.stringify(errors)),
        error: (error) => options.onFault(String(error)),
        complete: () => options.onFault('a subscription was completed'),
      },
    );
  }

  cut(): void {
    this.#socket?.terminate();
  }
}
