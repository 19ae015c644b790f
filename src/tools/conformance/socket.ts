import { AssertionError } from 'node:assert';
import type { Socket as TcpSocket } from 'node:net';
import { WebSocket } from 'ws';
import { clientFrame } from './client-frame.ts';
import { readMessage, subscribeMessage, TRANSPORT_WS } from './message.ts';
import type { ProtocolMessage } from './message.ts';

/** Unread messages after which a socket is not read on, so that a flood stays with the server. */
const MAX_UNREAD = 10_000;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

export interface SocketOptions {
  /** Default: graphql-transport-ws. [] offers none. */
  protocols?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Whether WebSocket pings are answered. Default: true. */
  isAnsweringPings?: boolean;
  /** Whether permessage-deflate is offered. Default: false. */
  isOfferingCompression?: boolean;
  /** Longest wait of `next`, `roundTrip`, `closing` and `expectClose`, in ms. Default: 10,000. */
  patienceMs?: number;
}

/** Anything with an `after` hook: a test, a suite, a stage. */
export interface Scope {
  after(fn: () => void | Promise<void>): void;
}

/** Codes that no server sends: RFC 6455, 7.4.1. */
const REMARKS: ReadonlyMap<number, string> = new Map([
  [1005, '(without a code)'],
  [1006, '(without a close frame)'],
]);

type Outgoing = object | string;

/**
 * A raw client: what arrives waits in a queue until it is asked for, so a test never misses a message. Every wait is
 * bounded, and ends with an AssertionError when the socket closes or stays silent instead.
 */
export class Socket {
  readonly #socket: WebSocket;
  readonly #tcp: TcpSocket;
  readonly #patienceMs: number;
  readonly #messages: ProtocolMessage[] = [];
  readonly #closed: Promise<Closing>;
  readonly #muted = new Set<string>();
  readonly #events = new Map<string, number>();
  #closing: Closing | undefined;
  readonly #waiting = new Set<() => void>();
  #pings = 0;
  #isHeldBack = false;

  constructor(socket: WebSocket, tcp: TcpSocket, patienceMs: number) {
    this.#socket = socket;
    this.#tcp = tcp;
    this.#patienceMs = patienceMs;
    socket.on('message', (data: Buffer) => this.#received(readMessage(data.toString())));
    socket.on('ping', () => this.#pings++);
    this.#closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        this.#closing = { code, reason: reason.toString() };
        this.#wake();
        resolve(this.#closing);
      });
    });
  }

  /** Messages that arrived and were not read. */
  get unread(): readonly ProtocolMessage[] {
    return this.#messages;
  }

  /** WebSocket pings that arrived. */
  get pings(): number {
    return this.#pings;
  }

  get patienceMs(): number {
    return this.#patienceMs;
  }

  get isOpen(): boolean {
    return this.#closing === undefined;
  }

  /** An object goes as JSON, a string as it is, a Buffer as a binary frame. */
  send(message: Outgoing): void {
    this.#socket.send(wire(message));
  }

  /** All messages in one write: one TCP segment, as far as the server can tell. */
  sendTogether(...messages: readonly Outgoing[]): void {
    this.write(Buffer.concat(messages.map((message) => clientFrame(wire(message)))));
  }

  /** Bytes as they are, past the client's own framing. */
  write(bytes: Buffer): void {
    this.#tcp.write(bytes);
  }

  subscribe(id: string, query: string, variables?: object, extensions?: object): void {
    this.send(subscribeMessage(id, query, variables, extensions));
  }

  complete(id: string): void {
    this.send({ type: 'complete', id });
  }

  /** Sends `connection_init` and takes its `connection_ack`. */
  async init(payload?: object): Promise<ProtocolMessage> {
    this.send({ type: 'connection_init', ...(payload && { payload }) });
    const ack = await this.next();
    if (ack.type !== 'connection_ack') throw failure(`expected connection_ack, got ${JSON.stringify(ack)}`);
    return ack;
  }

  /** The oldest unread message. */
  async next(): Promise<ProtocolMessage> {
    const message = await this.#first(() => true, this.#patienceMs);
    if (!message) throw failure(`expected a message, got none in ${this.#patienceMs / 1000} s`);
    return message;
  }

  /** The oldest unread message with this id, or undefined after `waitMs`. Others stay unread. */
  nextOf(id: string, waitMs: number): Promise<ProtocolMessage | undefined> {
    return this.#first((message) => message.id === id, waitMs);
  }

  /** Drops `next` messages with this id: those that are unread, and those to come. */
  mute(id: string): void {
    this.#muted.add(id);
    const kept = this.#messages.filter((message) => !this.#isMuted(message));
    this.#messages.splice(0, Infinity, ...kept);
    this.#readOn();
  }

  unmute(id: string): void {
    this.#muted.delete(id);
  }

  /** `next` messages with this id that have arrived, also while it was muted. */
  eventsOf(id: string): number {
    return this.#events.get(id) ?? 0;
  }

  /** Takes `count` messages. */
  async take(count: number): Promise<ProtocolMessage[]> {
    const messages: ProtocolMessage[] = [];
    while (messages.length < count) messages.push(await this.next());
    return messages;
  }

  /**
   * Two `ping`s answered one after the other: what the server had to say before is here then. Proves absence without
   * waiting for a time to pass.
   * @returns every unread message that came before the last `pong`.
   */
  async roundTrip(): Promise<ProtocolMessage[]> {
    const before: ProtocolMessage[] = [];
    for (let i = 0; i < 2; i++) {
      this.send({ type: 'ping' });
      for (let message = await this.next(); message.type !== 'pong'; message = await this.next()) before.push(message);
    }
    return before;
  }

  async expectClose(): Promise<Closing> {
    const closing = await this.closing();
    if (!closing) throw failure(`expected a close, got none in ${this.#patienceMs / 1000} s`);
    return closing;
  }

  /** How the socket was closed, or undefined if it stays open. */
  async closing(): Promise<Closing | undefined> {
    const timeout = new AbortController();
    const late = new Promise<undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), this.#patienceMs);
      timeout.signal.addEventListener('abort', () => clearTimeout(timer));
    });
    const closing = await Promise.race([this.#closed, late]);
    timeout.abort();
    return closing;
  }

  /** Stops reading, so that the server's bytes pile up; `resume` reads on. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  /** Ends the TCP connection without a close frame. */
  terminate(): void {
    this.#socket.terminate();
  }

  #received(message: ProtocolMessage): void {
    if (message.type === 'next' && message.id !== undefined)
      this.#events.set(message.id, this.eventsOf(message.id) + 1);
    if (this.#isMuted(message)) return;
    this.#messages.push(message);
    if (this.#messages.length > MAX_UNREAD) {
      this.#isHeldBack = true;
      this.#socket.pause();
    }
    this.#wake();
  }

  #isMuted({ type, id }: ProtocolMessage): boolean {
    return type === 'next' && id !== undefined && this.#muted.has(id);
  }

  #readOn(): void {
    if (!this.#isHeldBack || this.#messages.length > MAX_UNREAD / 2) return;
    this.#isHeldBack = false;
    this.#socket.resume();
  }

  async #first(isWanted: (message: ProtocolMessage) => boolean, waitMs: number): Promise<ProtocolMessage | undefined> {
    const deadline = performance.now() + waitMs;
    for (;;) {
      const index = this.#messages.findIndex(isWanted);
      if (index >= 0) {
        const [message] = this.#messages.splice(index, 1);
        this.#readOn();
        return message;
      }
      if (this.#closing) throw failure(`expected a message, got ${closeText(this.#closing)}`);
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return undefined;
      await this.#arrival(leftMs);
    }
  }

  /** Several may wait at the same time. */
  #arrival(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }
}

/** A connected client, ended with its scope. */
export async function openSocket(scope: Scope, url: string, options: SocketOptions = {}): Promise<Socket> {
  const { protocols = [TRANSPORT_WS], headers = {}, isAnsweringPings = true, patienceMs = 10_000 } = options;
  const { isOfferingCompression = false } = options;
  const socket = new WebSocket(url, [...protocols], {
    headers,
    autoPong: isAnsweringPings,
    perMessageDeflate: isOfferingCompression,
    handshakeTimeout: patienceMs,
  });
  scope.after(() => socket.terminate());
  let client: Socket | undefined;
  await new Promise<void>((resolve, reject) => {
    // The TCP socket is taken here because `ws` has no public way to it once it is open.
    socket.once('upgrade', (response) => (client = new Socket(socket, response.socket, patienceMs)));
    socket.once('open', resolve);
    socket.on('error', reject);
  });
  return client!;
}

function wire(message: Outgoing): string | Buffer {
  return typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message);
}

export function closeText({ code, reason }: Closing): string {
  const remark = REMARKS.get(code) ?? (reason && JSON.stringify(reason));
  return `close ${code} ${remark}`.trimEnd();
}

function failure(message: string): AssertionError {
  return new AssertionError({ message });
}
