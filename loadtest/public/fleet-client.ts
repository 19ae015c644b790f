import type { Delays } from './reconnect-delays.ts';

/** What a client is: @crier/client, or a raw socket, which costs its process a fraction of that. */
export type ClientKind = 'stock' | 'raw';

export interface FleetClientOptions {
  readonly port: () => number;
  readonly localAddress: string;
  readonly delays: Delays;
  readonly minOfflineMs: number;
  readonly query: string;
  readonly onVersion: (version: number) => void;
  readonly onConnected: () => void;
  readonly onClosed: (code: number) => void;
  readonly onFault: (fault: string) => void;
}

/** A client with one subscription, which resumes after each reconnect, and whose TCP connection can be cut. */
export interface FleetClient {
  /** True from the acknowledgement of the connection to its end. */
  readonly isOpen: boolean;
  /** Ends the TCP connection without a close frame. */
  cut(): void;
}
