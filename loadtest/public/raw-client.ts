import { randomUUID } from 'node:crypto';
import { RawConnection } from '../storm/raw-connection.ts';
import type { FleetClient, FleetClientOptions } from './fleet-client.ts';
import { reconnectMs } from './reconnect-delays.ts';

/** A result has a number and a cursor. */
const TEXT_BYTES = 1000;
/** As that of @crier/client. */
const KEEP_ALIVE_MS = 10_000;

/** A raw socket that sends what @crier/client sends, at the same moments. It neither parses JSON nor detects a dead connection. */
export class RawClient implements FleetClient {
  isOpen = false;
  /** As long as an id of graphql-ws, and no other client's. */
  readonly #id = randomUUID();
  readonly #options: FleetClientOptions;
  #connection: RawConnection | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #cursor: string | null = null;
  #isResuming = false;
  #attempt = 0;

  constructor(options: FleetClientOptions) {
    this.#options = options;
    this.#connect();
  }

  cut(): void {
    this.#connection?.destroy();
  }

  onOpen(): void {
    this.#connection!.send('{"type":"connection_init"}');
  }

  onMessage(text: string): void {
    if (text.includes('"next"')) this.#onEvent(text);
    else if (text.includes('"connection_ack"')) this.#onAcknowledged();
    else if (text.includes('"pong"')) this.#pingLater();
    else this.#options.onFault(text);
  }

  onClosed(code: number): void {
    clearTimeout(this.#pinging);
    const { onClosed, delays, minOfflineMs } = this.#options;
    this.isOpen = false;
    onClosed(code);
    setTimeout(() => this.#connect(), reconnectMs(this.#attempt++, delays, minOfflineMs));
  }

  #connect(): void {
    const { port, localAddress } = this.#options;
    const plan = { port: port(), localAddress, path: '/graphql', isGraphql: true, textBytes: TEXT_BYTES };
    this.#connection = new RawConnection(plan, this);
  }

  #onAcknowledged(): void {
    const { query, onConnected } = this.#options;
    const resume = this.#isResuming ? { extensions: { resume: { cursor: this.#cursor } } } : {};
    const payload = { query, variables: { auction_id: 1 }, ...resume };
    this.#connection!.send(JSON.stringify({ id: this.#id, type: 'subscribe', payload }));
    this.#isResuming = true;
    this.#attempt = 0;
    this.isOpen = true;
    this.#pingLater();
    onConnected();
  }

  #onEvent(text: string): void {
    const version = /"version":(\d+)/.exec(text);
    if (!version) return this.#options.onFault(text);
    this.#cursor = /"cursor":"([^"]+)"/.exec(text)?.[1] ?? null;
    this.#options.onVersion(Number(version[1]));
  }

  #pingLater(): void {
    clearTimeout(this.#pinging);
    this.#pinging = setTimeout(() => this.#connection!.send('{"type":"ping"}'), KEEP_ALIVE_MS);
  }
}
