import { WebSocket } from 'ws';

export interface ReceiverOptions {
  readonly port: number;
  /** Payload of the subscribe message. */
  readonly payload: () => object;
  readonly onEvent: (version: number, message: Buffer) => void;
  /** Called for a message that is not an event, and when the connection closes. */
  readonly onFault: (fault: string) => void;
}

const VERSION = '"version":';

/** A client with one subscription that reads only the version of each event. */
export class Receiver {
  readonly #options: ReceiverOptions;
  #socket: WebSocket | undefined;
  /** Id of the current subscription. */
  #id = '';

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Resolves when the connection is acknowledged. */
  open(): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${this.#options.port}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => socket.send('{"type":"connection_init"}'));
      socket.once('message', () => {
        socket.on('message', (message: Buffer) => this.#onMessage(message));
        socket.on('close', (code) => this.#options.onFault(`closed with ${code}`));
        resolve();
      });
    });
  }

  /** Call after `open` has resolved. */
  subscribe(): void {
    this.#id = crypto.randomUUID();
    this.#socket!.send(JSON.stringify({ id: this.#id, type: 'subscribe', payload: this.#options.payload() }));
  }

  /** Ends the subscription; the connection stays. */
  complete(): void {
    this.#socket!.send(JSON.stringify({ id: this.#id, type: 'complete' }));
  }

  #onMessage(message: Buffer): void {
    const at = message.indexOf(VERSION);
    if (at < 0) return this.#options.onFault(`no event: ${message.toString('utf8', 0, 200)}`);
    this.#options.onEvent(Number.parseInt(message.toString('latin1', at + VERSION.length, at + 24), 10), message);
  }
}

/** Opens connections, with a limited number of handshakes at a time. */
export async function openAll(receivers: readonly Receiver[], atOnce = 100): Promise<void> {
  for (let i = 0; i < receivers.length; i += atOnce)
    await Promise.all(receivers.slice(i, i + atOnce).map((receiver) => receiver.open()));
}
