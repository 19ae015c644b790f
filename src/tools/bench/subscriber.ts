import { WebSocket } from 'ws';
import { TRANSPORT_WS } from '../conformance/message.ts';
import type { ProtocolMessage } from '../conformance/message.ts';
import type { Bench } from './arguments.ts';

/** A larger message ends the socket. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const CLOSE_PATIENCE_MS = 2000;

export interface SubscriberListener {
  /** An event that is known by its bytes. False if it is not: then the message is parsed. */
  repeated(subscriber: Subscriber, bytes: Buffer): boolean;
  event(subscriber: Subscriber, bytes: Buffer, payload: unknown): void;
  /** The server ended the operation or the socket of a subscriber that had been subscribed. */
  ended(subscriber: Subscriber, reason: string): void;
}

/** One socket with one subscription. It parses only messages that it has not seen before. */
export class Subscriber {
  /** Number of the event that comes next, as far as this socket knows. */
  position = 0;
  received = 0;
  readonly #bench: Bench;
  readonly #listener: SubscriberListener;
  readonly #socket: WebSocket;
  #settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #isEnding = false;

  constructor(bench: Bench, listener: SubscriberListener) {
    this.#bench = bench;
    this.#listener = listener;
    this.#socket = new WebSocket(bench.url, TRANSPORT_WS, {
      headers: bench.headers,
      perMessageDeflate: false,
      handshakeTimeout: bench.timeoutMs,
      maxPayload: MAX_MESSAGE_BYTES,
    });
  }

  /** Resolves when the server has read the `subscribe` message. @throws Error with the reason of the server */
  async subscribe(): Promise<void> {
    const subscribed = new Promise<void>((resolve, reject) => (this.#settle = { resolve, reject }));
    const timer = setTimeout(() => this.#fail(`no answer in ${this.#bench.timeoutMs} ms`), this.#bench.timeoutMs);
    const { connectionParams } = this.#bench;
    this.#socket.on('open', () =>
      this.#send({ type: 'connection_init', ...(connectionParams && { payload: connectionParams }) }),
    );
    this.#socket.on('message', (bytes: Buffer) => this.#message(bytes));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.message || (error.code ?? 'error')));
    this.#socket.on('close', (code, reason) => this.#fail(`close ${code} ${reason.toString()}`.trimEnd()));
    try {
      await subscribed;
    } catch (error) {
      this.#isEnding = true;
      this.#socket.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_PATIENCE_MS);
    this.#socket.close(1000);
    await closed;
    clearTimeout(timer);
  }

  #message(bytes: Buffer): void {
    if (this.#isEnding || this.#listener.repeated(this, bytes)) return;
    const message = parsed(bytes);
    switch (message?.type) {
      case 'connection_ack':
        this.#send({ id: '1', type: 'subscribe', payload: this.#bench.subscription });
        this.#send({ type: 'ping' });
        return;
      case 'ping':
        return this.#send({ type: 'pong' });
      case 'pong':
        // What follows in the same chunk is of a subscriber that is subscribed.
        this.#settle?.resolve();
        this.#settle = undefined;
        return;
      case 'next':
        return this.#listener.event(this, bytes, message.payload);
      case 'error': {
        const [error] = Array.isArray(message.payload) ? (message.payload as { message?: string }[]) : [];
        return this.#fail(`error: ${error?.message ?? JSON.stringify(message.payload)}`);
      }
      case 'complete':
        return this.#fail('the server completed the subscription');
      default:
        this.#fail(`a message that the protocol does not know: ${bytes.toString().slice(0, 100)}`);
    }
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  #fail(reason: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#settle) this.#settle.reject(new Error(reason));
    else this.#listener.ended(this, reason);
    this.#socket.terminate();
  }
}

function parsed(bytes: Buffer): ProtocolMessage | undefined {
  try {
    const message: unknown = JSON.parse(bytes.toString());
    return typeof message === 'object' && message !== null ? (message as ProtocolMessage) : undefined;
  } catch {
    return undefined;
  }
}
