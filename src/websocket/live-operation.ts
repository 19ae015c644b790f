import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { OperationTypeNode } from 'graphql';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { MessageType, stringifyMessage } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import { BusUnavailableError, ExecutionTimeoutError, OverloadedError, clientError, errorOf } from '../errors.ts';
import { resultBytesOf } from '../fanout/outbox/frame.ts';
import { ResultTimes } from '../fanout/outbox/result-times.ts';
import type { Hub } from '../fanout/hub.ts';
import type { Outbox } from '../fanout/outbox/outbox.ts';
import { Subscription } from '../fanout/subscription.ts';
import type { SubscriptionOwner } from '../fanout/subscription.ts';
import type { DocumentLane, DocumentQueue } from '../graph/documents/document-queue.ts';
import type { Operation } from '../graph/documents/operation.ts';
import type { GraphRuntime, Refusal } from '../graph/runtime.ts';
import { textWeight, weightOf } from '../json/weight.ts';
import type { Holding } from './held-bytes.ts';
import type { SubscriptionTally } from './subscription-tally.ts';

export interface LiveOperationServices {
  readonly runtime: GraphRuntime;
  /** Queue of the documents that are not cached. */
  readonly documents: DocumentQueue;
  readonly hub: Hub;
  readonly subscriptions: SubscriptionTally;
  readonly limits: { readonly maxPendingEvents: number; readonly maxHeldBytes: number };
  readonly onFailure: FailureListener;
}

/** Receives an unexpected failure that ended one operation or one connection. `connection` is the connection's id. Must not throw. */
export type FailureListener = (
  ended: 'operation' | 'connection',
  error: unknown,
  connection: string | undefined,
) => void;

export interface LiveOperationOwner {
  readonly outbox: Outbox;
  readonly hasWaitingDocuments: boolean;
  readonly documentLane: DocumentLane;
  /** True if its operations keep at most `maxHeldBytes`. */
  readonly isWithinHeldBytes: boolean;
  /** The operation has sent its last message, so its id is free. */
  onOver(operation: LiveOperation): void;
}

/** Interval in ms at which a source that waits for a backpressured socket checks it again. */
const BACKPRESSURE_CHECK_INTERVAL_MS = 10;

/** Overhead of an operation beside what is counted, in bytes. */
const BYTES_PER_OPERATION = 1024;

/** One `subscribe` message, from its arrival to its end. */
export class LiveOperation implements Holding, SubscriptionOwner {
  readonly id: string;
  readonly #owner: LiveOperationOwner;
  readonly #services: LiveOperationServices;
  /** Estimated from the message until the document is prepared, then from what the operation keeps. */
  heldBytes = BYTES_PER_OPERATION;
  operation: Operation | undefined;
  #subscription: Subscription | undefined;
  /** Counted in `SubscriptionTally`; undefined: not yet. */
  #field: string | undefined;
  /** Leaves the document queue, the channel or the source, whichever the operation is in. */
  #leave: (() => void) | undefined;
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

  /** Prepares the document, authorises and joins the channel. Called once. Resolves when the operation is live or has ended. */
  async start(payload: SubscribePayload, facts: ConnectionFacts): Promise<void> {
    const { runtime } = this.#services;
    const { extensions } = payload;
    const variables = payload.variables ?? undefined;
    const ownBytes = BYTES_PER_OPERATION + weightOf(variables);
    this.heldBytes = ownBytes + textWeight(payload.query) + weightOf(extensions);
    if (!this.#isAffordable()) return;
    const operation = await this.#prepare(payload);
    if (this.#isEnded) return;
    if ('errors' in operation) return this.fail(operation.errors);
    this.operation = operation;
    this.heldBytes = ownBytes;
    if (!this.#isAffordable()) return;
    if (operation.type === OperationTypeNode.SUBSCRIPTION) {
      await this.#subscribe(operation, variables, facts, cursorOf(extensions));
    } else this.#answer(await runtime.execute(operation, variables, facts));
  }

  /** Ends the operation with an `error` message; no `complete` follows. */
  fail(errors: readonly GraphQLError[]): void {
    const payload = errors.map((error) => error.toJSON());
    this.#conclude(stringifyMessage({ id: this.id, type: MessageType.Error, payload }));
  }

  /** An event could not be delivered. */
  onFailure(error: unknown): void {
    this.#services.onFailure('operation', error, this.#subscription?.facts.id);
    const shown =
      errorOf(error) instanceof ExecutionTimeoutError
        ? clientError('EXECUTION_TIMEOUT', 'An event was not executed in time; subscribe again')
        : clientError('INTERNAL_SERVER_ERROR', 'Internal server error');
    this.fail([shown]);
    this.#leave?.();
  }

  /** Returns the operation of a cached document at once if no other document of the connection waits, else when its turn has come. */
  async #prepare({ query, operationName }: SubscribePayload): Promise<Operation | Refusal> {
    const { runtime, documents } = this.#services;
    const known = this.#owner.hasWaitingDocuments ? undefined : runtime.findPrepared(query, operationName);
    if (known) return known;
    const lane = this.#owner.documentLane;
    const work = documents.add(lane, this.heldBytes, () => runtime.prepare(query, operationName, lane));
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
    if (this.#owner.isWithinHeldBytes) return true;
    const message = `The operations of a connection may keep ${this.#services.limits.maxHeldBytes} bytes of documents, variables and channel names (MAX_CONNECTION_BYTES); complete one first, or use variables: operations of one document share it`;
    this.fail([clientError('OPERATION_LIMIT', message)]);
    return false;
  }

  /** @param result its `errors` are formatted already */
  #answer({ errors, ...rest }: ExecutionResult): void {
    if (this.#isEnded) return;
    const payload = errors ? { ...rest, errors: errors.map((error) => error.toJSON()) } : rest;
    this.#owner.outbox.send(stringifyMessage({ id: this.id, type: MessageType.Next, payload }));
    this.#complete();
  }

  #complete(): void {
    this.#conclude(stringifyMessage({ id: this.id, type: MessageType.Complete }));
  }

  #conclude(message: string): void {
    if (this.#isEnded) return;
    this.#markEnded();
    this.#owner.outbox.send(message);
    this.#owner.onOver(this);
  }

  #markEnded(): void {
    this.#isEnded = true;
    this.#subscription?.end();
    if (this.#field === undefined) return;
    this.#services.subscriptions.delete(this.#field);
    this.operation!.tally.subscriptions--;
  }

  /** @param cursor where the client wants to resume; undefined: it does not resume */
  async #subscribe(
    operation: Operation,
    variables: Record<string, unknown> | undefined,
    facts: ConnectionFacts,
    cursor: unknown,
  ): Promise<void> {
    const { runtime, hub, limits } = this.#services;
    const source = await runtime.subscribe(operation, variables, facts);
    if ('errors' in source) return this.fail(source.errors);
    if ('channel' in source) {
      // The bus keeps the name, too.
      this.heldBytes += 2 * textWeight(source.channel) + textWeight(source.sharingKey ?? '');
      if (!this.#isAffordable()) return;
    }
    const subscription = new Subscription({
      id: this.id,
      operation,
      variables,
      facts,
      outbox: this.#owner.outbox,
      owner: this,
      maxPendingEvents: limits.maxPendingEvents,
    });
    this.#subscription = subscription;
    if (this.#isEnded) subscription.end();
    else {
      this.#services.subscriptions.add((this.#field = source.field));
      operation.tally.subscriptions++;
    }
    if ('events' in source) {
      const events = source.events[Symbol.asyncIterator]();
      if (this.#isEnded) return void returnQuietly(events);
      if (cursor !== undefined) hub.refuseResume(subscription);
      return this.#follow(events, subscription);
    }
    try {
      const { channel, sharingKey, replaysLast } = source;
      const start = cursor !== undefined || replaysLast ? { cursor, replaysLast } : undefined;
      this.#hold(await hub.join(channel, sharingKey, subscription, start));
    } catch (error) {
      if (!(error instanceof BusUnavailableError)) throw error;
      this.fail([clientError('BUS_UNAVAILABLE', 'Events cannot be subscribed to right now; try again')]);
    }
  }

  /** Leaves at once if the operation ended meanwhile. */
  #hold(leave: () => void): void {
    if (this.#isEnded) leave();
    else this.#leave = leave;
  }

  #follow(events: AsyncIterator<unknown>, subscription: Subscription): void {
    void this.#pump(events, subscription);
    // `return()` runs in the source's async context, also if another connection's event ends the operation.
    this.#hold(AsyncResource.bind(() => void returnQuietly(events)));
  }

  /**
   * Drives a source that is not a Kafka topic. It requests the next event when the socket is not backpressured, so a fast source
   * fills no queue. A source without `return()` is only not requested any more.
   */
  async #pump(events: AsyncIterator<unknown>, subscription: Subscription): Promise<void> {
    const { runtime } = this.#services;
    const { outbox } = this.#owner;
    try {
      for (let event = await events.next(); !event.done; event = await events.next()) {
        const { json } = await runtime.startEvent({ value: event.value }).execute(subscription);
        subscription.deliver(resultBytesOf(json, undefined, new ResultTimes()));
        await nextTurn();
        while (outbox.isBackpressured && !subscription.isEnded) await delay(BACKPRESSURE_CHECK_INTERVAL_MS);
        if (subscription.isEnded) return;
      }
      this.#complete();
    } catch (error) {
      this.fail([runtime.masked(error)]);
    }
  }
}

/** `extensions.resume.cursor` of a subscribe message; null if `resume` has no cursor, undefined without `resume`. */
function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}

/** Calls the source's `return()` and ignores its outcome. */
async function returnQuietly(events: AsyncIterator<unknown>): Promise<void> {
  try {
    await events.return?.();
  } catch {
    // The client has left: no message can report the error.
  }
}
