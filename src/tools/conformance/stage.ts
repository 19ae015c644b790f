import assert from 'node:assert/strict';
import { assertNone, expectClose } from './answers.ts';
import { subscribeMessage } from './message.ts';
import type { ProtocolMessage } from './message.ts';
import { openSocket } from './socket.ts';
import type { Scope, Socket, SocketOptions } from './socket.ts';
import type { Feed, Operation, Subject } from './subject.ts';

/** A trigger is repeated after this time without an event: the server may not have been subscribed to the source yet. */
const TRIGGER_AGAIN_MS = 250;

/** The server completed an operation that should have gone on: the row cannot be tried with it. */
export class OperationEndedError extends Error {}

/** The server and the sockets of one row. */
export class Stage implements Scope {
  readonly subject: Subject;
  /** Longest wait for something that must happen, in ms. */
  readonly patienceMs: number;
  readonly #endings: (() => void | Promise<void>)[] = [];

  constructor(subject: Subject, patienceMs: number) {
    this.subject = subject;
    this.patienceMs = patienceMs;
  }

  after(end: () => void | Promise<void>): void {
    this.#endings.push(end);
  }

  /** Ends the sockets. */
  async close(): Promise<void> {
    await Promise.all(this.#endings.splice(0).map(async (end) => end()));
  }

  /** A fresh socket without `connection_init`. */
  open({ headers, ...options }: SocketOptions = {}): Promise<Socket> {
    return openSocket(this, this.subject.url, {
      patienceMs: this.patienceMs,
      headers: { ...this.subject.headers, ...headers },
      ...options,
    });
  }

  /** A fresh socket, acknowledged. */
  async connect(options: SocketOptions = {}): Promise<Socket> {
    const socket = await this.open(options);
    await socket.init(this.subject.connectionParams);
    return socket;
  }

  /** The subject's query as a `subscribe` message. */
  ask(socket: Socket, id: string): void {
    socket.send(messageOf(id, this.subject.query));
  }

  /** A running operation. Where there are events, its first has arrived; further ones are muted. */
  async start(socket: Socket, id: string, feed = this.subject.feed()): Promise<Feed> {
    socket.send(messageOf(id, feed.operation));
    const early = await socket.roundTrip();
    for (const message of early) assertEvent(message, id);
    if (!this.subject.missing.has('events') && early.length === 0) await this.event(socket, id, feed);
    socket.mute(id);
    return feed;
  }

  /** The next event of a running operation, which is muted again afterwards. Other messages stay unread. */
  async event(socket: Socket, id: string, { trigger }: Feed): Promise<ProtocolMessage> {
    socket.unmute(id);
    const deadline = performance.now() + this.patienceMs;
    try {
      for (let leftMs = this.patienceMs; leftMs > 0; leftMs = deadline - performance.now()) {
        await trigger?.();
        const message = await socket.nextOf(id, trigger ? Math.min(TRIGGER_AGAIN_MS, leftMs) : leftMs);
        if (!message) continue;
        assertEvent(message, id);
        return message;
      }
    } finally {
      socket.mute(id);
    }
    assert.fail(`expected an event of "${id}", got none in ${this.patienceMs / 1000} s`);
  }

  /** Completes an operation as a client does. A `complete` that the server sends back is dropped: the protocol allows it. */
  async complete(socket: Socket, id: string): Promise<void> {
    socket.complete(id);
    const answers = await socket.roundTrip();
    assertNone(answers.filter((message) => message.type !== 'complete' || message.id !== id));
  }

  /** An operation has ended and stays silent, while the other one with the same feed receives its events. */
  async staysSilent(socket: Socket, ended: string, other: string, feed: Feed): Promise<void> {
    // An event that was being executed may have come meanwhile.
    await this.event(socket, other, feed);
    socket.unmute(ended);
    await this.event(socket, other, feed);
    assertNone(await socket.roundTrip());
  }

  /** Each message, alone on a fresh acknowledged socket, is answered with this close code and nothing else. */
  async refuses(code: number, messages: readonly (object | string)[]): Promise<void> {
    for (const message of messages) {
      const socket = await this.connect();
      socket.send(message);
      await expectClose(socket, code, (typeof message === 'string' ? 'text ' : '') + JSON.stringify(message));
    }
  }

  /** Each message is accepted without an answer, and the socket stays open. */
  async ignores(messages: readonly object[]): Promise<void> {
    const socket = await this.connect();
    for (const message of messages) {
      socket.send(message);
      assertNone(await socket.roundTrip(), JSON.stringify(message));
    }
  }
}

function assertEvent(message: ProtocolMessage, id: string): void {
  if (message.type === 'complete' && message.id === id)
    throw new OperationEndedError('the subscription ended by itself');
  assert.ok(
    message.type === 'next' && message.id === id,
    `expected an event of "${id}", got ${JSON.stringify(message)}`,
  );
}

function messageOf(id: string, { query, variables }: Operation): object {
  return subscribeMessage(id, query, variables);
}
