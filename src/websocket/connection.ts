import type { Duplex } from 'node:stream';
import { CloseCode, MessageType, stringifyMessage } from 'graphql-ws';
import type { SubscribeMessage, WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { ConnectionFacts, RequestSource } from '../context/connection-facts.ts';
import { clientError } from '../errors.ts';
import { Outbox } from '../fanout/outbox.ts';
import type { OutboxOwner } from '../fanout/outbox.ts';
import type { Writer } from '../fanout/writer.ts';
import type { Logger } from '../log.ts';
import type { Expecting, InitDeadlines } from './init-deadlines.ts';
import type { ConnectionSocket, SocketListener } from './connection-socket.ts';
import { LiveOperation } from './live-operation.ts';
import type { LiveOperationServices } from './live-operation.ts';
import { CLOSE_CODES, closeReason, parseClientMessage, pongMessage } from './protocol.ts';
import type { ClientMessage } from './protocol.ts';
import { RateLimit } from './rate-limit.ts';

export interface ConnectionLimits {
  readonly maxOperations: number;
  readonly maxIdBytes: number;
  readonly maxMessagesPerSecond: number;
  readonly maxMessageBurst: number;
  readonly maxPendingEvents: number;
}

/** Shared by all connections of a gateway. */
export interface ConnectionServices extends LiveOperationServices {
  readonly limits: ConnectionLimits;
  readonly writer: Writer;
  readonly initDeadlines: InitDeadlines<Connection>;
  readonly log: Logger;
  readonly onSlowConsumer: () => void;
  /** The socket is gone. `code`: of who closed it first. */
  readonly onClose: (connection: Connection, code: number) => void;
}

/** graphql-ws's handler of one message; typed for text, it passes an object through as it is (test/websocket/conformance.test.ts). */
type Handle = (message: string) => Promise<void>;

type Closed = (code: number, reason: string) => Promise<void>;

/**
 * One socket between `ws` and graphql-ws's protocol machine. It parses each message once, keeps limits, and hands
 * graphql-ws messages without their query, because its handler keeps them alive as long as the operation.
 */
export class Connection implements ProtocolSocket, OutboxOwner, Expecting, SocketListener {
  readonly outbox: Outbox;
  readonly #socket: ConnectionSocket;
  readonly #services: ConnectionServices;
  readonly #rateLimit: RateLimit;
  readonly #operations = new Map<string, LiveOperation>();
  /** By id: what must have happened before the next message of that id is handled. Entries delete themselves. */
  #settling: Map<string, Promise<void>> | undefined;
  /** Until the connection is authenticated; then `#facts`. */
  #request: Omit<RequestSource, 'params'> | undefined;
  #facts: ConnectionFacts | undefined;
  #handle: Handle | undefined;
  #closed: Closed | undefined;
  #isAlive = true;
  /** Why it ended: our code where we closed it, whatever the peer answered. */
  #closeCode = 0;

  /** `stream`: the upgrade's socket, below `socket`. */
  constructor(
    socket: ConnectionSocket,
    stream: Duplex,
    request: Omit<RequestSource, 'params'>,
    services: ConnectionServices,
  ) {
    const { limits } = services;
    this.#socket = socket;
    this.#request = request;
    this.#services = services;
    this.#rateLimit = new RateLimit(limits.maxMessagesPerSecond, limits.maxMessageBurst);
    this.outbox = new Outbox(socket, stream, services.writer, this);
  }

  get operationCount(): number {
    return this.#operations.size;
  }

  // graphql-ws's side of the socket.

  get protocol(): string {
    return this.#socket.protocol;
  }

  send(message: string): void {
    this.outbox.send(message);
  }

  /** Sends a close frame and ends every operation now, not when the peer has answered. Idempotent. */
  close(code: number = CLOSE_CODES.serviceRestart, reason = ''): void {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.outbox.flush();
      this.#socket.close(code, closeReason(reason));
    }
    this.#end(code, reason);
  }

  onMessage(handle: Handle): void {
    this.#handle = handle;
  }

  // The gateway's side.

  /** Starts listening. `closed`: what graphql-ws's `opened()` returned. */
  open(closed: Closed): void {
    this.#closed = closed;
    this.#socket.listen(this);
    // graphql-ws has closed it already where the sub-protocol is not ours.
    if (this.#socket.readyState === WebSocket.OPEN) this.#services.initDeadlines.expect(this);
    else this.#end(CloseCode.SubprotocolNotAcceptable, '');
  }

  /** Pings a peer that has answered the last ping, ends one that has not. */
  sweep(): void {
    if (!this.#isAlive) return this.#socket.terminate();
    this.#isAlive = false;
    this.#socket.ping();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  onDeadline(): void {
    this.close(CloseCode.ConnectionInitialisationTimeout, 'Connection initialisation timeout');
  }

  onSlowConsumer(): void {
    this.#services.onSlowConsumer();
    this.close(CLOSE_CODES.tryAgainLater, 'Slow consumer: messages were not read in time');
  }

  /** `connection_init`: whether the connection may go on. */
  async authenticate(params: unknown): Promise<boolean> {
    const facts = await this.#services.runtime.authenticate({ ...this.#request!, params });
    if (!facts) return false;
    this.#facts = facts;
    this.#request = undefined;
    return true;
  }

  /** What graphql-ws's `onSubscribe` answers for an operation of this connection. */
  async prepare(id: string): ReturnType<LiveOperation['prepare']> {
    const operation = this.#operations.get(id);
    if (!operation || !this.#facts) return [clientError('INTERNAL_SERVER_ERROR', 'The operation has ended')];
    const { maxOperations } = this.#services.limits;
    if (this.#operations.size > maxOperations) {
      return [
        clientError('OPERATION_LIMIT', `A connection may have ${maxOperations} operations at once; complete one first`),
      ];
    }
    return operation.prepare(this.#facts);
  }

  /** A message has come from the peer. A bug in its handling ends this connection, not the process. */
  onMessageFrame(data: Buffer): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      this.#receive(data);
    } catch (error) {
      this.#services.log.error({ err: error, connection: this.#id }, 'failed to handle a message');
      this.close(CLOSE_CODES.serviceRestart, 'Internal server error');
    }
  }

  #receive(data: Buffer): void {
    const { limits } = this.#services;
    if (!this.#rateLimit.take(performance.now())) {
      return this.close(
        CLOSE_CODES.policyViolation,
        `Too many messages: ${limits.maxMessagesPerSecond} per second and ${limits.maxMessageBurst} at once are allowed`,
      );
    }
    const message = parseClientMessage(data, limits.maxIdBytes);
    if (!message) return this.close(CloseCode.BadRequest, 'Invalid message received');
    switch (message.type) {
      case MessageType.Ping:
        return void this.outbox.send(pongMessage(message, data.length));
      case MessageType.Pong:
        return;
      case MessageType.ConnectionInit:
        this.#services.initDeadlines.settle(this);
        return void this.#dispatch(message);
      case MessageType.Subscribe:
        return this.#afterSettled(message.id, () => this.#subscribe(message));
      case MessageType.Complete:
        return this.#afterSettled(message.id, () => this.#complete(message.id));
    }
  }

  /**
   * graphql-ws keeps its books by id and forgets an operation only some microtasks after it was completed: a new operation
   * of the same id in that time would inherit its end. So the messages of an id that is ending wait for that end.
   */
  #afterSettled(id: string, handle: () => void): void {
    const previous = this.#settling?.get(id);
    if (previous) this.#settle(id, previous.then(handle));
    else handle();
  }

  #settle(id: string, promise: Promise<void>): void {
    const settling = (this.#settling ??= new Map());
    const settled = promise.finally(() => {
      if (settling.get(id) === settled) settling.delete(id);
    });
    settling.set(id, settled);
  }

  #subscribe(message: SubscribeMessage): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const { id, payload } = message;
    const operation = new LiveOperation(id, payload, this.outbox, this.#services);
    const isNew = !this.#operations.has(id);
    if (isNew) this.#operations.set(id, operation);
    // An id that is live closes the connection with 4409: graphql-ws does that.
    operation.settled = this.#dispatch({ type: MessageType.Subscribe, id, payload: NO_QUERY }, operation);
  }

  #complete(id: string): void {
    const operation = this.#operations.get(id);
    if (!operation) return;
    operation.end();
    this.#operations.delete(id);
    void this.#dispatch({ type: MessageType.Complete, id });
    this.#settle(id, operation.settled);
  }

  /**
   * Resolves when graphql-ws has done with the message: of a `subscribe`, when the operation is over. Never rejects: a bug
   * in one operation is an `error` of that id; in the connection, a close that clients retry.
   */
  #dispatch(message: ClientMessage, operation?: LiveOperation): Promise<void> {
    const handled = this.#handle!(message as unknown as string);
    return handled
      .catch((error: unknown) => this.#onFailure(message, error))
      .then(operation && (() => this.#forget(message as SubscribeMessage, operation)));
  }

  #forget({ id }: SubscribeMessage, operation: LiveOperation): void {
    if (this.#operations.get(id) === operation) this.#operations.delete(id);
  }

  #onFailure(message: ClientMessage, error: unknown): void {
    this.#services.log.error({ err: error, connection: this.#id }, `failed to handle a ${message.type} message`);
    if (message.type !== MessageType.Subscribe) return this.close(CLOSE_CODES.serviceRestart, 'Internal server error');
    const failure = clientError('INTERNAL_SERVER_ERROR', 'Internal server error');
    this.send(stringifyMessage({ type: MessageType.Error, id: message.id, payload: [failure.toJSON()] }));
  }

  get #id(): string | undefined {
    return this.#facts?.id ?? this.#request?.id;
  }

  /** The socket is gone. */
  onClosed(code: number, reason: string): void {
    this.#end(code, reason);
    this.#services.onClose(this, this.#closeCode);
  }

  onPong(): void {
    this.#isAlive = true;
  }

  /** ws closes the socket itself after a protocol error (1002, 1007, 1009). */
  onError(error: Error): void {
    this.#services.log.debug({ err: error, connection: this.#id }, 'socket error');
  }

  #end(code: number, reason: string): void {
    this.outbox.drop();
    const closed = this.#closed;
    if (!closed) return;
    this.#closed = undefined;
    this.#closeCode = code;
    this.#services.initDeadlines.settle(this);
    for (const operation of this.#operations.values()) operation.end();
    closed(code, reason).catch((error: unknown) => {
      this.#services.log.error({ err: error, connection: this.#id }, 'failed to end a connection');
    });
  }
}

const NO_QUERY = { query: '' };
