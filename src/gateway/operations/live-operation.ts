import { OperationTypeNode } from 'graphql';
import type { ExecutionResult, GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { ConnectionFacts } from '../../graph/context/connection-facts.ts';
import {
  BusUnavailableError,
  ExecutionTimeoutError,
  OverloadedError,
  clientError,
  errorOf,
} from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { Leave } from '../fanout/hub.ts';
import { joinChannels } from '../fanout/join-channels.ts';
import type { MessageFormat } from '../connections/message-format.ts';
import type { MessageOutbox } from '../fanout/outbox/outbox.ts';
import { Subscription } from '../fanout/subscription.ts';
import type { SubscriptionOwner } from '../fanout/subscription.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import type { DocumentLane } from '../../graph/documents/document-queue.ts';
import { documentIdOf } from '../../graph/documents/document-request.ts';
import type { DocumentRequest } from '../../graph/documents/document-request.ts';
import type { Operation } from '../../graph/documents/operation.ts';
import { withNumbers } from '../../graph/execution/number-variables.ts';
import type { Refusal } from '../../graph/refusal.ts';
import type { ChannelSource, EventSource } from '../../graph/event-source.ts';
import { schemaChanged } from '../../graph/schema-changed.ts';
import type { Holding } from './held-bytes.ts';
import type { LiveOperationServices } from './live-operation-services.ts';
import { operationWeight, requestWeight, sourceWeight } from './operation-weight.ts';
import { discardSource, followSource } from './own-source.ts';
import type { OwnSourceOwner } from './own-source.ts';
import { cursorOf, resumeProblem } from './resume-cursor.ts';

export interface LiveOperationOwner {
  readonly connectionId: string | undefined;
  readonly outbox: MessageOutbox;
  readonly hasWaitingDocuments: boolean;
  readonly documentLane: DocumentLane;
  readonly limits: ConnectionLimits;
  /** True: its operations are those of many users. */
  readonly isRouter: boolean;
  /** Takes note of what the operation keeps now. */
  count(operation: LiveOperation): void;
  /** True if its operations keep at most `maxHeldBytes`. */
  isWithinHeldBytes(): boolean;
  /** The operation has sent its last message, so its id is free. */
  onOver(operation: LiveOperation): void;
}

/** Time in ms after which an operation whose executions were behind may begin again: a slow backend may have recovered. */
const BEHIND_RETRY_MS = 1000;
const NOTHING_KEPT = clientError(
  'OPERATION_NOT_ALLOWED',
  'Nothing tells what a client has missed here: a single reply needs a subscription to one channel whose field has "history" or "state" in @kafka; or take a stream (accept: text/event-stream)',
);

type Variables = Readonly<Record<string, unknown>> | undefined;

/** One request of a client for an operation, from its arrival to its end. */
export class LiveOperation implements Holding, SubscriptionOwner, OwnSourceOwner {
  readonly id: string;
  readonly #owner: LiveOperationOwner;
  readonly #services: LiveOperationServices;
  /** Estimated from the message until the document is prepared, then from what the operation keeps. */
  heldBytes = operationWeight(undefined);
  /** Only its owner writes it. */
  countedBytes = 0;
  operation: Operation | undefined;
  /** The latest of its connection. */
  #facts: ConnectionFacts | undefined;
  #subscription: Subscription | undefined;
  /** Channels of the subscription; 0: it has none, or a source of its own. */
  #channels = 0;
  /** Ends a live subscription that is not authorised again in time; undefined: it is authorised. */
  #deadline: NodeJS.Timeout | undefined;
  /** Counted in `SubscriptionTally`; undefined: not yet. */
  #field: string | undefined;
  /** Leaves the document queue, the channel or the source, whichever the operation is in. */
  #leave: Leave | undefined;
  #isEnded = false;

  constructor(id: string, owner: LiveOperationOwner, services: LiveOperationServices) {
    this.id = id;
    this.#owner = owner;
    this.#services = services;
  }

  /** Ends the operation without a message: the client completed it, or the connection has ended. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#markEnded();
    this.#leave?.();
  }

  /**
   * Prepares the document, authorises and joins the channel. Called once. Resolves when the operation is live or has ended.
   * @param refresh of the connection's token: the operation is authorised after it
   */
  async start(payload: SubscribePayload, facts: ConnectionFacts, refresh?: Promise<void>): Promise<void> {
    this.#facts = facts;
    const { query, operationName, extensions } = payload;
    const id = documentIdOf(payload);
    this.heldBytes = requestWeight(payload, id);
    if (!this.#isAffordable()) return;
    const operation = await this.#prepare({ query, id }, operationName);
    if (this.#isEnded) return;
    if ('errors' in operation) return this.fail(operation.errors);
    const problem = resumeProblem(extensions);
    if (problem !== undefined) return this.fail([clientError('BAD_USER_INPUT', problem)]);
    this.operation = operation;
    const variables = payload.variables ? withNumbers(operation, payload.variables) : undefined;
    this.heldBytes = operationWeight(variables);
    if (!this.#isAffordable()) return;
    if (refresh) await refresh;
    if (this.#isEnded) return;
    if (operation.type === OperationTypeNode.SUBSCRIPTION) {
      await this.#authorise(operation, variables, cursorOf(extensions));
    } else {
      const onBegin = (leave: () => void) => (this.#leave = leave);
      this.#answer(await this.#services.runtime.execute(operation, variables, this.#facts, onBegin));
    }
  }

  /** The connection has another token that grants the same. Executions that begin after this call have its facts. */
  replaceFacts(facts: ConnectionFacts): void {
    this.#facts = facts;
    this.#subscription?.replaceFacts(facts);
  }

  /**
   * The connection has other claims. Executions that begin after this call have them. A live subscription sends no result until it is
   * authorised again; results wait in order, up to `maxPendingEvents`.
   * @returns true if the caller must call `authoriseAgain`
   */
  hold(facts: ConnectionFacts): boolean {
    this.#facts = facts;
    // Without a subscription the operation is not authorised yet. It will be authorised with these facts.
    if (!this.#subscription || this.#isEnded) return false;
    this.#subscription.hold(facts);
    // With a deadline an earlier call of `authoriseAgain` is in flight. It uses the latest facts.
    return this.#deadline === undefined;
  }

  /**
   * Authorises a live subscription with its latest facts. A refusal ends the operation. If these facts lead to another source, the
   * subscription moves there: its next event has `gap: true`, and results of the old source are dropped. Never rejects.
   * @returns resolves when the subscription is authorised or has ended
   */
  async authoriseAgain(): Promise<void> {
    const subscription = this.#subscription;
    if (!subscription || this.#isEnded || this.#deadline) return;
    const { executionTimeoutMs } = this.#owner.limits;
    await new Promise<void>((resolve) => {
      const onDeadline = () => {
        this.onFailure(new ExecutionTimeoutError('authorising a live subscription again', 'the graph'));
        // The graph's code may never settle.
        resolve();
      };
      this.#deadline = setTimeout(onDeadline, executionTimeoutMs);
      this.#authorise(subscription.operation, subscription.variables, undefined)
        .catch((error: unknown) => this.onFailure(error))
        .finally(resolve);
    });
  }

  /**
   * The pod serves another graph. A live subscription is authorised again under its rules, and continues if its document is still valid: in the
   * same channels no event is lost or doubled; from another source its next event has `gap: true`. Any other operation continues with
   * the graph that it has begun with, or notices by itself. Never rejects.
   */
  reload(): Promise<void> {
    // Events that the former source sends from now on could come from the new source, too.
    if (this.#subscription && this.#channels === 0) this.#subscription.hold(this.#facts!);
    return this.authoriseAgain();
  }

  /**
   * The connection is about to close: sends the events that wait for the pace of the field.
   * @param onSent called once they are executed
   * @returns false: they are sent already
   */
  sendWaiting(onSent: () => void): boolean {
    const subscription = this.#subscription;
    if (!subscription?.pace || this.#isEnded) return false;
    this.#leave?.(true);
    if (!subscription.isExecuting) return false;
    subscription.awaitRoom('lagging', onSent);
    return true;
  }

  /** Ends the operation with an `error` message; no `complete` follows. */
  fail(errors: readonly GraphQLError[]): void {
    const payload = errors.map((error) => error.toJSON());
    this.#conclude(this.#format.error(this.id, payload));
  }

  /** As `fail`: a limit is reached. */
  refuse(message: string, code: ErrorCode, retryAfterMs?: number): void {
    this.#services.onRefusedOperation(message, this.#owner.connectionId);
    this.fail([clientError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs })]);
  }

  /** An event could not be delivered. */
  onFailure(error: unknown): void {
    this.#services.onFailure('operation', error, this.#facts?.id);
    const shown =
      errorOf(error) instanceof ExecutionTimeoutError
        ? clientError('EXECUTION_TIMEOUT', 'An event was not executed in time; subscribe again')
        : clientError('INTERNAL_SERVER_ERROR', 'Internal server error');
    this.#failAndLeave([shown]);
  }

  /** Its executions cannot keep up. The other operations of a router are those of other users: they stay. */
  onBehind(): void {
    if (!this.#owner.isRouter) return this.#owner.outbox.refuse();
    const message = 'Events were not executed as fast as they came; subscribe again';
    this.#services.onRefusedOperation(message, this.#owner.connectionId);
    this.#failAndLeave([clientError('OVERLOADED', message, { retryAfterMs: BEHIND_RETRY_MS })]);
  }

  /** A tombstone has ended the subscription. */
  onComplete(): void {
    if (this.#isEnded) return;
    this.#complete();
    this.#leave?.();
  }

  onSourceEnd(): void {
    this.#complete();
  }

  onSourceFailure(error: unknown): void {
    this.fail([this.#services.runtime.masked(error)]);
  }

  /** Returns the operation of a cached document at once if no other document of the connection waits, else when its turn has come. */
  async #prepare(request: DocumentRequest, operationName: string | null | undefined): Promise<Operation | Refusal> {
    const { runtime, documents } = this.#services;
    const known = this.#owner.hasWaitingDocuments ? undefined : runtime.findPrepared(request, operationName);
    if (known) return known;
    const lane = this.#owner.documentLane;
    const work = documents.add(lane, this.heldBytes, () => runtime.prepare(request, operationName, lane));
    this.#leave = work.cancel;
    try {
      return await work.done;
    } catch (error) {
      if (!(error instanceof OverloadedError)) throw error;
      return runtime.refusedFor(error);
    } finally {
      this.#leave = undefined;
    }
  }

  /** Returns false, and fails the operation, if the connection would keep more than it may. */
  #isAffordable(): boolean {
    this.#owner.count(this);
    if (this.#owner.isWithinHeldBytes()) return true;
    const message = `The operations of a connection may keep ${this.#owner.limits.maxHeldBytes} bytes of documents, variables, channel names and waiting events of context.pubsub (4 times MAX_MESSAGE_BYTES, or 10 KiB for each of MAX_OPERATIONS_PER_CONNECTION); complete one first, or use variables: operations of one document share it`;
    this.refuse(message, 'OPERATION_LIMIT');
    return false;
  }

  /** @param result its `errors` are formatted already */
  #answer({ errors, ...rest }: ExecutionResult): void {
    if (this.#isEnded) return;
    const payload = errors ? { ...rest, errors: errors.map((error) => error.toJSON()) } : rest;
    this.#owner.outbox.send(this.#format.next(this.id, payload));
    this.#complete();
  }

  get #format(): MessageFormat {
    return this.#owner.outbox.format;
  }

  #complete(): void {
    this.#conclude(this.#format.complete(this.id));
  }

  #conclude(message: string): void {
    if (this.#isEnded) return;
    this.#markEnded();
    this.#owner.outbox.send(message);
    this.#owner.onOver(this);
  }

  #failAndLeave(errors: readonly GraphQLError[]): void {
    if (this.#isEnded) return;
    this.fail(errors);
    this.#leave?.();
  }

  #markEnded(): void {
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    this.#subscription?.end();
    if (this.#field === undefined) return;
    this.#services.subscriptions.delete(this.#field);
    this.operation!.tally.subscriptions--;
  }

  /**
   * Authorises with the latest facts, again if they change meanwhile, and subscribes to the source.
   * @param cursor where the client wants to resume; undefined: it does not resume
   */
  async #authorise(prepared: Operation, variables: Variables, cursor: unknown): Promise<void> {
    const { runtime } = this.#services;
    let operation = prepared;
    let facts: ConnectionFacts;
    let source: EventSource | Refusal | undefined;
    do {
      if (source) discardSource(source);
      facts = this.#facts!;
      const adopted = operation.schema === runtime.schema ? operation : runtime.adopt(operation);
      if ('errors' in adopted) return this.#failAndLeave(adopted.errors);
      operation = adopted;
      source = this.#served(await runtime.subscribe(operation, variables, facts));
    } while ((facts !== this.#facts || operation.schema !== runtime.schema) && !this.#isEnded);
    // In the same turn as the last look at the facts and the graph: later ones are authorised by another call.
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    if (this.#isEnded) discardSource(source);
    else if ('errors' in source)
      this.#failAndLeave(this.#isOutdated(source) ? schemaChanged(source.errors).errors : source.errors);
    else if (this.#isIn(source)) this.#continueIn(source, operation);
    else await this.#moveTo(source, operation, variables, cursor);
  }

  /**
   * A single reply ends with the first news, and its cursor covers all before it. So none may wait for a pace: it has none, and shares with nobody
   * that has.
   */
  #served(source: EventSource | Refusal): EventSource | Refusal {
    if (!this.#format.onCaughtUp || 'errors' in source || 'events' in source || !source.pace) return source;
    return { ...source, pace: undefined, sharingKey: undefined };
  }

  /** True if the arguments of a live subscription are refused: another graph has other arguments. */
  #isOutdated({ errors }: Refusal): boolean {
    return this.#subscription !== undefined && errors[0]?.extensions['code'] === 'BAD_USER_INPUT';
  }

  /** True if the subscription is in the channels of this source, and in no others. */
  #isIn(source: EventSource): source is ChannelSource {
    const subscription = this.#subscription;
    if (!subscription || 'events' in source) return false;
    const { channels } = source;
    return this.#channels === channels.length && channels.every((name) => this.#services.hub.has(name, subscription));
  }

  #continueIn({ channels, sharingKey, filter, pace }: ChannelSource, operation: Operation): void {
    const subscription = this.#subscription!;
    const hasMoved = subscription.operation !== operation;
    this.#adopt(operation);
    subscription.pace = pace;
    if (hasMoved) for (const name of channels) this.#services.hub.move(name, sharingKey, subscription, filter);
    subscription.confirm();
  }

  /** The operation continues as this one, of another graph. */
  #adopt(operation: Operation): void {
    if (this.#field !== undefined) {
      this.operation!.tally.subscriptions--;
      operation.tally.subscriptions++;
    }
    this.operation = operation;
    if (this.#subscription) this.#subscription.operation = operation;
  }

  /** Leaves the source that it has, if any, and subscribes to another one. */
  async #moveTo(source: EventSource, operation: Operation, variables: Variables, cursor: unknown): Promise<void> {
    const { runtime, hub } = this.#services;
    const previous = this.#subscription;
    this.#adopt(operation);
    previous?.end();
    this.#leave?.();
    this.#leave = undefined;
    this.heldBytes = operationWeight(variables) + sourceWeight(source);
    if (!this.#isAffordable()) return discardSource(source);
    const { onCaughtUp } = this.#format;
    if (onCaughtUp && !isKept(source)) {
      discardSource(source);
      return this.fail([NOTHING_KEPT]);
    }
    const subscription = new Subscription({
      id: this.id,
      operation,
      variables,
      facts: this.#facts!,
      outbox: this.#owner.outbox,
      owner: this,
      maxPendingEvents: this.#owner.limits.maxPendingEvents,
      pace: 'events' in source ? undefined : source.pace,
    });
    this.#subscription = subscription;
    this.#channels = 'events' in source ? 0 : source.channels.length;
    if (previous) hub.notifyGap(subscription, 'moved');
    else this.#count(source.field, operation);
    if ('events' in source) {
      if (cursor !== undefined) hub.notifyResume(subscription, 'no_history');
      if (source.pubsub) {
        source.pubsub.onGap = () => hub.notifyGap(subscription, 'bus');
        source.pubsub.onBytes = (change) => {
          this.heldBytes += change;
          this.#owner.count(this);
        };
      }
      this.#leave = followSource(source, subscription, runtime, this);
    } else await this.#join(source, subscription, cursor);
  }

  #count(field: string, { tally }: Operation): void {
    this.#services.subscriptions.add((this.#field = field));
    tally.subscriptions++;
  }

  async #join(source: ChannelSource, subscription: Subscription, cursor: unknown): Promise<void> {
    const { replaysLast, hasState, hasHistory } = source;
    // The bus may have a history of the channel from a graph that kept one: events since are not in it.
    const hasKept = hasHistory || hasState;
    if (cursor !== undefined && !hasKept) this.#services.hub.notifyResume(subscription, 'no_history');
    const { onCaughtUp } = this.#format;
    const start = { cursor: hasKept ? cursor : undefined, replaysLast, hasState, hasHistory, onCaughtUp };
    try {
      const leave = await joinChannels(this.#services.hub, source, subscription, start);
      // It may have ended meanwhile, or moved.
      if (subscription.isEnded) leave();
      else this.#leave = leave;
    } catch (error) {
      if (!(error instanceof BusUnavailableError)) throw error;
      // It may have moved meanwhile. If it has ended, there is nothing to fail.
      if (subscription !== this.#subscription) return;
      this.fail([clientError('BUS_UNAVAILABLE', 'Events cannot be subscribed to right now; try again')]);
    }
  }
}

/** True if a client can read later what it has missed. */
function isKept(source: EventSource): boolean {
  return !('events' in source) && source.channels.length === 1 && (source.hasHistory || source.hasState);
}
