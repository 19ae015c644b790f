import type { Socket } from 'node:net';
import { MessageType } from 'graphql-ws';
import type { SubscribeMessage } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { Claims, ConnectionFacts } from '../../graph/context/connection-facts.ts';
import { Outbox } from '../fanout/outbox/outbox.ts';
import { ReadWindow } from '../fanout/outbox/read-window.ts';
import type { KnownClaims } from '../identity/revocation.ts';
import { ConnectionIdentity } from './connection-identity.ts';
import type { HandshakeSource, IdentityOwner } from './connection-identity.ts';
import { ConnectionOperations } from '../operations/connection-operations.ts';
import type { ConnectionServices } from './connection-services.ts';
import type { ConnectionSocket, SocketListener } from './connection-socket.ts';
import type { Recipient } from './inbox.ts';
import type { DeadlineOwner } from '../connections/init-deadlines.ts';
import { PeerSilence } from './peer-silence.ts';
import { ClientConnection } from '../connections/client-connection.ts';
import { CLOSE_CODES, closeFrameReason } from '../connections/close-codes.ts';
import { EarlyMessages } from './early-messages.ts';
import { MAX_ECHOED_BYTES } from './socket-format.ts';
import type { SocketFormat } from './socket-format.ts';
import { isServed, protocolClose } from './subprotocol.ts';

/**
 * One socket that speaks graphql-transport-ws: the order of its messages, its limits and its operations. Message types, validation
 * and close codes come from graphql-ws. Its server is not used: it keeps 2 KB for each operation that waits for events, and an id
 * stays in use for some time after its `complete`.
 */
export class Connection
  extends ClientConnection<ConnectionServices<Connection>, Socket>
  implements DeadlineOwner, IdentityOwner, SocketListener, Recipient
{
  readonly outbox: Outbox<SocketFormat>;
  readonly operations: ConnectionOperations;
  readonly #socket: ConnectionSocket;
  readonly #identity: ConnectionIdentity;
  readonly #silence = new PeerSilence();
  /** Messages of this connection that wait for their rate or in the inbox. */
  #waitingMessages = 0;
  /** Those that wait for their rate; undefined: none has. */
  #early: EarlyMessages | undefined;

  /**
   * @param stream the TCP socket below `socket`
   * @param isOfRouterNetwork as of the base class
   */
  constructor(
    socket: ConnectionSocket,
    stream: Socket,
    request: HandshakeSource,
    services: ConnectionServices<Connection>,
    isOfRouterNetwork: boolean,
  ) {
    super(stream, services, isOfRouterNetwork);
    this.#socket = socket;
    // Until a token may raise it: a client that nobody knows yet needs no more.
    socket.maxReceivedBytes = this.limits.maxMessageBytes;
    this.#identity = new ConnectionIdentity(this, request, services);
    this.outbox = new Outbox(socket, stream, services.writer, this, services.formatOf(socket));
    this.operations = new ConnectionOperations(this.outbox, services, this);
  }

  get id(): string | undefined {
    return this.#identity.id;
  }

  get tokenExpiresAtMs(): number {
    return this.#identity.expiresAtMs;
  }

  /** undefined: not authenticated yet. */
  get knownClaims(): KnownClaims | undefined {
    return this.#identity.knownClaims;
  }

  /** IP address of the client, as far as proxies are trusted. */
  get address(): string {
    return this.#identity.address;
  }

  /** Its facts count, too, and the messages that wait for their rate. */
  override get heldBytes(): number {
    return super.heldBytes + this.#identity.heldBytes + (this.#early?.textBytes ?? 0);
  }

  override adoptToken(token: Claims | undefined): void {
    const wasRouter = this.isRouter;
    super.adoptToken(token);
    if (this.isRouter !== wasRouter) this.services.onRouterChanged(this);
    this.#socket.maxReceivedBytes = this.limits.maxReceivedBytes;
  }

  authenticateAgain(): Promise<void> {
    return this.#identity.authenticateAgain();
  }

  /** Sends a close frame and ends every operation at once, without waiting for the peer's close frame. Idempotent. */
  close(code: number = CLOSE_CODES.serviceRestart, reason = ''): void {
    if (this.#socket.readyState === WebSocket.OPEN) {
      this.outbox.flush();
      this.#socket.close(code, closeFrameReason(reason));
      this.closeReason = reason;
    }
    this.end(code);
  }

  /** Starts listening. */
  open(): void {
    this.#socket.listen(this);
    if (isServed(this.#socket.protocol)) this.services.initDeadlines.add(this);
    else this.close(...protocolClose(this.#socket.protocol));
  }

  /** Ends a peer that sent nothing since the last call, or began a message before it and has not completed it. */
  protected sweepPeer(isPinging: boolean): void {
    if (this.#waitingMessages > 0) return this.#sweepPaused(isPinging);
    const silence = this.#silence.sweep(
      this.#socket.isMessageIncomplete,
      isPinging ? this.stream.bytesRead : undefined,
    );
    if (silence === 'late') this.close(CLOSE_CODES.timeout, 'Message not completed in time');
    else if (silence === 'silent') this.#endSilent();
    else if (isPinging) this.#socket.ping();
  }

  /** Silence proves nothing, but pings fail once the peer has gone. */
  #sweepPaused(isPinging: boolean): void {
    this.#silence.forget();
    if (isPinging) this.#socket.ping();
  }

  #endSilent(): void {
    this.closeReason = 'Nothing was received for PING_INTERVAL_MS';
    this.#socket.terminate();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  onDeadline(): void {
    if (this.isEnded) return;
    // A message that waits in the inbox arrived in time; it is handled first.
    if (this.#waitingMessages > 0 && this.#early?.isEmpty !== false) setImmediate(() => this.onDeadline());
    else if (!this.#identity.isInitialised) this.close(CLOSE_CODES.timeout, 'Connection initialisation timeout');
  }

  onMessageFrame(data: Buffer): void {
    this.#silence.onMessage();
    if (!this.#completes(data)) this.#admit(data, this.#costOf(data));
  }

  /** Handles a message when its turn in the inbox has come. A bug in its handling ends this connection, not the process. */
  onTurn(data: Buffer): void {
    this.#onWaited();
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#receive(data).catch((error: unknown) => {
      this.services.onFailure('connection', error, this.id);
      this.close(CLOSE_CODES.serviceRestart, 'Internal server error');
    });
  }

  onBinaryMessage(): void {
    this.close(CLOSE_CODES.badRequest, 'Messages must be text');
  }

  /** A pong that the gateway has asked for is no message of the client's own. */
  onPong(mark: string): void {
    if (!this.outbox.onPong(mark)) this.onControlFrame();
  }

  override openReadWindow(): ReadWindow {
    return new ReadWindow(this.stream, (mark) => this.outbox.sendPing(mark));
  }

  /** Control frames count against the message rate. */
  onControlFrame(): void {
    this.#admit(undefined, 1);
  }

  /** Ends the live operation that a message completes. That frees work, so it waits for nothing and counts as no message. */
  #completes(data: Buffer): boolean {
    const id = this.operations.size > 0 ? this.outbox.format.completedId(data) : undefined;
    return id !== undefined && this.operations.complete(id);
  }

  /** Messages that this one counts as: a client pays for its text, not for the few bytes that it may have sent instead. */
  #costOf({ length }: Buffer): number {
    if (!this.#socket.compression) return 1;
    return Math.min(Math.max(1, Math.ceil(length / INFLATED_MESSAGE_BYTES)), this.limits.maxMessageBurst);
  }

  /** Handles a message at once if its rate and the inbox allow it. Otherwise it waits for both, and the socket is not read meanwhile. */
  #admit(data: Buffer | undefined, cost: number): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    const isEarly = this.#early?.isEmpty === false || !this.rateLimit.take(performance.now(), cost);
    if (!isEarly && (!data || this.services.inbox.receive(this, data))) return;
    if (this.#waitingMessages++ === 0) this.#socket.pause();
    if (!isEarly) return;
    // Between the frames of a message only control frames come. They would keep its deadline from being looked at.
    if (!data && this.#socket.isMessageIncomplete)
      return this.close(CLOSE_CODES.policyViolation, 'Too many control frames within a message');
    const { format } = this.outbox;
    const begun = data && format.subscribedId(data);
    const isOfOperation = begun !== undefined || (data && format.completedId(data)) !== undefined;
    this.#early ??= new EarlyMessages(this.rateLimit, this.#socket, (due) => this.#onDue(due));
    if (this.#early.add(data, cost, isOfOperation)) return;
    this.#onWaited();
    const { maxMessagesPerSecond, maxMessageBurst } = this.limits;
    const text = `Too many messages: ${maxMessagesPerSecond} per second and ${maxMessageBurst} at once are allowed`;
    if (begun === undefined) this.close(CLOSE_CODES.policyViolation, text);
    else if (this.#factsOrClose(begun)) this.operations.refuse(begun, text, 'TOO_MANY_REQUESTS', RETRY_AFTER_MS);
  }

  #onDue(data: Buffer | undefined): void {
    if (data) this.services.inbox.receive(this, data);
    else this.#onWaited();
  }

  #onWaited(): void {
    if (this.#waitingMessages > 0 && --this.#waitingMessages === 0) this.#socket.resume();
  }

  async #receive(data: Buffer): Promise<void> {
    if (data.length > this.limits.maxMessageBytes) return this.#refuseLong(data);
    const message = this.outbox.format.parse(data);
    if (typeof message === 'string') return this.close(CLOSE_CODES.badRequest, message);
    switch (message.type) {
      case MessageType.Ping:
        return this.#identity.answerPing(message, data.length);
      case MessageType.Pong:
        return;
      case MessageType.ConnectionInit:
        this.services.initDeadlines.delete(this);
        return this.#identity.initialise(message.payload);
      case MessageType.Subscribe:
        return this.#subscribe(message);
      case MessageType.Complete:
        if (this.operations.complete(message.id)) this.rateLimit.giveBack();
        return;
    }
  }

  async #subscribe(message: SubscribeMessage): Promise<void> {
    const facts = this.#factsOrClose(message.id);
    if (!facts) return;
    const { maxIdBytes } = this.limits;
    const idBytes = Buffer.byteLength(message.id);
    const longId = `id may have ${maxIdBytes} bytes`;
    if (idBytes > MAX_ECHOED_BYTES) return this.close(CLOSE_CODES.badRequest, longId);
    if (idBytes > maxIdBytes) return this.operations.refuse(message.id, longId, 'BAD_USER_INPUT');
    const refusal = this.#identity.operationRefusal;
    if (refusal !== undefined) return this.operations.refuse(message.id, refusal);
    await this.operations.start(message, facts, this.#identity.refreshed);
  }

  /** The facts for an operation with this id; undefined: none may begin now. Closes the connection if its client must not have asked for one. */
  #factsOrClose(id: string): ConnectionFacts | undefined {
    const { facts } = this.#identity;
    if (!facts) {
      this.close(CLOSE_CODES.unauthorized, 'Unauthorized');
      // The protocol has the words for the client; this is for the log.
      this.closeReason = 'Unauthorized: an operation came before connection_ack';
    } else if (!this.isLeaving && this.operations.has(id))
      this.close(CLOSE_CODES.idInUse, `Subscriber for ${id} already exists`);
    else if (!this.isLeaving) return facts;
    return undefined;
  }

  /** A message that is too long ends its operation, or the connection if it names none. It is not parsed. */
  #refuseLong(data: Buffer): void {
    const id = this.outbox.format.subscribedId(data);
    if (id === undefined) this.close(CLOSE_CODES.messageTooBig, this.#tooLong);
    else if (this.#factsOrClose(id)) this.operations.refuse(id, this.#tooLong, 'BAD_USER_INPUT');
  }

  get #tooLong(): string {
    return `A message may have ${this.limits.maxMessageBytes} bytes (MAX_MESSAGE_BYTES)`;
  }

  /** Called when the socket has closed. */
  onClosed(code: number): void {
    this.end(code);
    this.services.onClose(this, this.logEnd(code !== NO_CLOSE_FRAME));
  }

  onViolation(code: number, text: string): void {
    this.close(code, code === CLOSE_CODES.messageTooBig ? this.#tooLong : text);
  }

  /** With a code that clients retry: the next connection of this one is not compressed, if it was acknowledged. */
  onKeptWindow(): void {
    // Anybody can name the program, and behind an unknown proxy the address, of somebody else.
    if (this.#identity.facts) this.services.keptWindows.add(this.address, this.#identity.userAgent);
    this.close(CLOSE_CODES.tryAgainLater, KEPT_WINDOW);
  }

  onError(error: Error): void {
    this.services.log.debug({ err: error, connection: this.id }, 'socket error');
  }

  protected override end(code: number): boolean {
    if (!super.end(code)) return false;
    this.services.initDeadlines.delete(this);
    this.#identity.end();
    this.#early?.end();
    // The peer's close frame is to be read.
    if (this.#early) this.#socket.resume();
    return true;
  }
}

/** Bytes of a message, on a connection with compression, that count as one message against the rate, also if only begun. */
const INFLATED_MESSAGE_BYTES = 4096;

const KEPT_WINDOW =
  'A message refers to an earlier one, against client_no_context_takeover: reconnect, without compression';

/** After which a refused operation may begin: by then the rate has caught up with what an uncompressed socket can send at once. */
const RETRY_AFTER_MS = 5000;

/** What ws reports if the peer sent no close frame. */
const NO_CLOSE_FRAME = 1006;
