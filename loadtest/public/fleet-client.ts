import { WebSocket } from 'ws';
import type { ClientOptions as SocketOptions } from 'ws';
import { createClient } from '../../client/client.ts';
import type { EventClient } from '../../client/client.ts';

/** How long a client waits before it connects again: as @crier/client does, or as the benchmark's tuned clients do. */
export type Delays = 'stock' | 'tuned';

const TUNED = { baseMs: 500, longestMs: 5000 };
/** The stock delays of @crier/client. */
const STOCK = { baseMs: 1000, longestMs: 30_000 };
/** Source addresses: one has 28,000 ports, and a port of a closed connection stays taken for a minute. */
const ADDRESSES = 8;

export interface FleetClientOptions {
  readonly index: number;
  readonly url: () => string;
  readonly delays: Delays;
  readonly minOfflineMs: number;
  readonly query: string;
  readonly onVersion: (version: number) => void;
  readonly onConnected: () => void;
  readonly onClosed: (code: number) => void;
  readonly onFault: (fault: string) => void;
}

/** One @crier/client with one subscription, whose TCP connection can be cut. */
export class FleetClient {
  readonly #client: EventClient;
  #socket: WebSocket | undefined;

  constructor(options: FleetClientOptions) {
    const own: SocketOptions = {
      localAddress: `127.0.0.${2 + (options.index % ADDRESSES)}`,
      perMessageDeflate: false,
      skipUTF8Validation: true,
    };
    const onSocket = (socket: WebSocket) => (this.#socket = socket);
    this.#client = createClient({
      url: options.url,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, own);
          onSocket(this);
        }
      },
      retryWait: (attempt) => waitBefore(attempt, options),
    });
    this.#client.on('connected', options.onConnected);
    this.#client.on('closed', (event) => options.onClosed((event as { code?: number }).code ?? 1006));
    this.#client.subscribe<{ auction_updated: { version: number } }>(
      { query: options.query, variables: { auction_id: 1 } },
      {
        next: ({ data, errors }) =>
          data ? options.onVersion(data.auction_updated.version) : options.onFault(JSON.stringify(errors)),
        error: (error) => options.onFault(String(error)),
        complete: () => options.onFault('a subscription was completed'),
      },
    );
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Ends the TCP connection without a close frame. */
  cut(): void {
    this.#socket?.terminate();
  }
}

async function waitBefore(attempt: number, { delays, minOfflineMs }: FleetClientOptions): Promise<void> {
  const { baseMs, longestMs } = delays === 'stock' ? STOCK : TUNED;
  const waitMs = Math.random() * Math.min(longestMs, baseMs * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, Math.max(minOfflineMs, waitMs)));
}
