import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { OperationTypeNode } from 'graphql';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { MessageType, stringifyMessage } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import { BusUnavailableError, ExecutionTimeoutError, OverloadedError, clientError, errorOf } from '../errors.ts';
import { resultBytesOf } from '../fanout/outbox/frame.ts';
import type { Hub } from '../fanout/hub.ts';
import type { Outbox } from '../fanout/outbox/outbox.ts';
import { Subscription } from '../fanout/subscription.ts';
import type { SubscriptionOwner } from '../fanout/subscription.ts';
import type { DocumentLane, DocumentQueue } from '../graph/documents/document-queue.ts';
import type { Operation } from '../graph/documents/operation.ts';
import type { GraphRuntime, Refusal } from '../graph/runtime.ts';
import { textWeight, weightOf } from '../json/weight.ts';
import type { Holding } from './held-bytes.ts';

export interface LiveOperationServices {
  readonly runtime: GraphRuntime;
  /** Where documents that are not cached wait. */
  readonly documents: DocumentQueue;
  readonly hub: Hub;
  readonly limits: { readonly maxPendingEvents: number; readonly maxHeldBytes: number };
  readonly onFailure: FailureListener;
}

/** Something failed that should not: it ended one operation or one connection. `connection`: its id. Must not throw. */
export type FailureListener = (
  ended: 'operation' | 'connection',
  error: unknown,
  connection: string | undefined,
) => void;

export interface LiveOperationOwner {
  readonly outbox: Outbox;
  readonly hasWaitingDocuments: boolean;
  readonly documentLane: DocumentLane;
  /** Whether its operations keep no more memory than they may. */
  readonly isWithinHeldBytes: boolean;
  /** It is over and has said so: its id is free. */
  onOver(operation: LiveOperation): void;
}

/** How often a source that waits for a slow peer looks whether it has caught up. */
const BEHIND_CHECK_INTERVAL_MS = 10;

/** What an operation takes beside what is counted. */
const BYTES_PER_OPERATION = 1024;

/** One `subscribe` message, from its arrival to its end. */
export class LiveOperation implements Holding, SubscriptionOwner {
  readonly id: string;
  readonly #owner: LiveOperationOwner;
  readonly #services: LiveOperationServices;
  /** Estimated from its message while it waits; then from what it keeps. */
  heldBytes = BYTES_PER_OPERATION;
  operation: Operation | undefined;
  #subscription: Subscription | undefined;
  /** Gives back where its events come from. */
  #leave: (() => void) | undefined;
  #isEnded = false;

  constructor(id: string, owner: LiveOperationOwner, services: LiveOperationServices) {
    this.id = id;
    this.#owner = owner;
    this.#services = services;
  }

  /** The client or the connection ended it: from now on nothing is sent for it. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#subscription?.end();
    this.#leave?.();
  }

  /** Document, variables, authorisation, channel. To be called once. Resolves when the operation is live, or over and answered. */
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

  /** Ends it with an `error` message, after which there is no `complete`. */
  fail(errors: readonly GraphQLError[]): void {
    const payload = errors.map((error) => error.toJSON());
    this.#conclude(stringifyMessage({ id: this.id, type: MessageType.Error, payload }));
  }

  /** An event could not be served. */
  onFailure(error: unknown): void {
    this.#services.onFailure('operation', error, this.#subscription?.facts.id);
    const shown =
      errorOf(error) instanceof ExecutionTimeoutError
        ? clientError('EXECUTION_TIMEOUT', 'An event was not executed in time; subscribe again')
        : clientError('INTERNAL_SERVER_ERROR', 'Internal server error');
    this.fail([shown]);
    this.#leave?.();
  }

  /** The operation of a cached document at once, if no other document of the connection waits; else when its turn has come. */
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

  /** Whether the connection may keep what this operation takes; else it is answered. */
  #isAffordable(): boolean {
    if (this.#owner.isWithinHeldBytes) return true;
    const message = `The operations of a connection may keep ${this.#services.limits.maxHeldBytes} bytes of documents, variables and channel names (MAX_CONNECTION_BYTES); complete one first, or use variables: operations of one document share it`;
    this.fail([clientError('OPERATION_LIMIT', message)]);
    return false;
  }

  /** `errors`: formatted already. */
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
    this.#isEnded = true;
    this.#subscription?.end();
    this.#owner.outbox.send(message);
    this.#owner.onOver(this);
  }

  /** `cursor`: where the client wants to go on; undefined: it does not. */
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
      // The bus has the name, too, and so has Redis.
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
    if ('events' in source) {
      const events = source.events[Symbol.asyncIterator]();
      if (this.#isEnded) return void returnQuietly(events);
      if (cursor !== undefined) subscription.note('"resumed":false');
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

  /** It may have been ended before there was anything to leave. */
  #hold(leave: () => void): void {
    if (this.#isEnded) leave();
    else this.#leave = leave;
  }

  #follow(events: AsyncIterator<unknown>, subscription: Subscription): void {
    void this.#pump(events, subscription);
    // The source's own async context, also where another connection's event ends the operation.
    this.#hold(AsyncResource.bind(() => void returnQuietly(events)));
  }

  /**
   * Drives a source that is not a Kafka topic: one event at a time, the next one when the peer has room for it, so what a
   * source has at hand fills no queue. A source without a `return()` is only asked no more.
   */
  async #pump(events: AsyncIterator<unknown>, subscription: Subscription): Promise<void> {
    const { runtime } = this.#services;
    const { outbox } = this.#owner;
    try {
      for (let event = await events.next(); !event.done; event = await events.next()) {
        const { json } = await runtime.startEvent({ value: event.value }).execute(subscription);
        subscription.deliver(resultBytesOf(json));
        await nextTurn();
        while (outbox.isBehind && !subscription.isEnded) await delay(BEHIND_CHECK_INTERVAL_MS);
        if (subscription.isEnded) return;
      }
      this.#complete();
    } catch (error) {
      this.fail([runtime.masked(error)]);
    }
  }
}

/** `extensions.resume.cursor` of a subscribe message; null where a resume has none. */
function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}

/** Nothing waits for what a source's `return()` may do. */
async function returnQuietly(events: AsyncIterator<unknown>): Promise<void> {
  try {
    await events.return?.();
  } catch {
    // The client has left: there is nobody to tell.
  }
}
