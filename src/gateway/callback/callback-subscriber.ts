import type { Response } from 'graphql-http';
import type { SubscribePayload } from 'graphql-ws';
import type { Carrier } from '../connections/client-connection.ts';
import { CLOSE_CODES } from '../connections/close-codes.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import { ConnectionOperations } from '../operations/connection-operations.ts';
import type { HttpStreamServices } from '../streams/http-stream-services.ts';
import { CLIENT_LEFT_CODE, ONLY_OPERATION, RequestConnection } from '../streams/request-connection.ts';
import type { Requester } from '../streams/request-connection.ts';
import { CallbackFormat } from './callback-format.ts';
import type { CallbackOrigin, PostOutcome } from './callback-origin.ts';
import { closed, unconfirmed } from './callback-replies.ts';
import type { CallbackRequest } from './callback-request.ts';
import { PostOutbox } from './post-outbox.ts';
import type { PostOutboxOwner } from './post-outbox.ts';

export interface CallbackSubscriberServices extends HttpStreamServices {
  /** Time in ms after the first post of a message in which it is posted again. */
  readonly retryForMs: number;
}

/** The part of a heartbeat's interval after which it is posted: routers end a subscription when the interval is over. */
const HEARTBEAT_PART = 0.75;
/**
 * Longest interval in ms of checks, also for a router that asks for no heartbeats: a router that has vanished would keep a subscription without
 * events for ever. A router answers every check.
 */
const MAX_CHECK_INTERVAL_MS = 300_000;

/** Why a subscription ends whose router has subscribed again with its id. The router is not told: it would end the new one. */
export const REPLACED = 'The router has subscribed again with this id';

/** One subscription of a router, whose messages are posted to its callback. */
export class CallbackSubscriber extends RequestConnection<Carrier> implements PostOutboxOwner {
  readonly outbox: PostOutbox;
  readonly operations: ConnectionOperations;
  readonly #checkIntervalMs: number;
  readonly #onLeft: () => void;
  #checks: NodeJS.Timeout | undefined;
  /** Ends the wait for the first check, with the reply to a router that did not confirm; undefined: it is over. */
  #onConfirmed: ((refusal: Response | undefined) => void) | undefined;
  #isConfirmed = false;
  #hasLeft = false;

  /** @param onLeft called once, when it posts no more */
  constructor(
    requester: Requester,
    { url, id, verifier, heartbeatMs }: CallbackRequest,
    origin: CallbackOrigin,
    services: CallbackSubscriberServices,
    onLeft: () => void,
  ) {
    const posts = { bytesWritten: 0, bytesRead: 0 };
    super(posts, requester, true, services);
    this.#checkIntervalMs = Math.min((heartbeatMs || Infinity) * HEARTBEAT_PART, MAX_CHECK_INTERVAL_MS);
    this.#onLeft = onLeft;
    this.outbox = new PostOutbox(this, {
      format: new CallbackFormat({ id, verifier }),
      origin,
      path: `${url.pathname}${url.search}`,
      posts,
      writer: services.writer,
      maxMessages: this.limits.maxPendingEvents,
      retryForMs: services.retryForMs,
    });
    this.operations = new ConnectionOperations(this.outbox, services, this);
  }

  /** True: the router waits for its messages. */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  /** A router has a callback for each of its operations, so each has the limits of another client's connection. */
  override get limits(): ConnectionLimits {
    return this.services.limits;
  }

  /** Its checks have an interval of their own. A router's callback has no limit of age. */
  override sweep(isPinging: boolean): void {
    if (!this.isRouter) super.sweep(isPinging);
  }

  /** Counts as a connection, and asks the router whether it wants the subscription. Resolves with undefined if it does, else with the reply. */
  confirm(): Promise<Response | undefined> {
    return new Promise((resolve) => {
      this.#onConfirmed = resolve;
      this.joinServices();
      this.outbox.check();
    });
  }

  /** Starts the operation. The router has confirmed it. */
  begin(payload: SubscribePayload): Promise<void> {
    if (this.isEnded) return Promise.resolve();
    this.#checks = setInterval(() => this.outbox.check(), this.#checkIntervalMs);
    return this.start(ONLY_OPERATION, payload);
  }

  /** Ends the operation, and tells a router that has confirmed it. Idempotent. */
  close(code: number, reason = ''): void {
    if (this.isEnded) return;
    this.closeReason = reason;
    if (this.#isConfirmed) this.outbox.send(this.outbox.format.closing(code, reason));
    this.end(code);
  }

  /** Ends it without a message. Idempotent. */
  leaveSilently(code: number, reason: string): void {
    if (this.isEnded) return;
    this.closeReason = reason;
    this.outbox.drop();
    this.end(code);
  }

  onDelivered(): void {
    if (this.isEnded) return;
    this.#isConfirmed = true;
    this.#settle(undefined);
  }

  onUndelivered({ result, text }: PostOutcome): void {
    if (this.isEnded) return this.outbox.abandon();
    this.#settle(unconfirmed(result));
    this.outbox.drop();
    if (result === 'refused') this.close(CLOSE_CODES.policyViolation, `The callback refused a post: ${text}`);
    else if (result === 'gone') this.leaveSilently(CLIENT_LEFT_CODE, '');
    else this.leaveSilently(CLOSE_CODES.tryAgainLater, `The callback cannot be reached: ${text}`);
  }

  onFinished(): void {
    this.#leave(true);
  }

  terminate(): void {
    this.outbox.abandon();
    this.end(CLIENT_LEFT_CODE);
    this.#leave(false);
  }

  protected sweepPeer(): void {}

  /** Posts what waits, and ends every operation without a message. */
  protected override end(code: number): boolean {
    if (this.isEnded) return false;
    clearInterval(this.#checks);
    // Before what drops the messages that wait.
    this.outbox.finish();
    super.end(code);
    this.leaveServices();
    this.#settle(closed(code, this.closeReason));
    return true;
  }

  #settle(refusal: Response | undefined): void {
    this.#onConfirmed?.(refusal);
    this.#onConfirmed = undefined;
  }

  #leave(isAnswered: boolean): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.services.connections.onClosed(this, this.logEnd(isAnswered));
    this.#onLeft();
  }
}
