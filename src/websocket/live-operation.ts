import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { OperationTypeNode, parse } from 'graphql';
import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import { BusUnavailableError, clientError } from '../errors.ts';
import { nextRest } from '../fanout/frame.ts';
import type { Hub } from '../fanout/hub.ts';
import type { Outbox } from '../fanout/outbox.ts';
import { Subscription } from '../fanout/subscription.ts';
import type { GraphRuntime } from '../graph/runtime.ts';
import type { Operation } from '../graph/operation.ts';
import { Sink } from './sink.ts';

export interface LiveOperationServices {
  readonly runtime: GraphRuntime;
  readonly hub: Hub;
  readonly limits: { readonly maxPendingEvents: number };
}

/** What graphql-ws runs: its contextValue is one of ours, and says itself what `subscribe` or `execute` give back. */
interface RunArgs extends ExecutionArgs {
  readonly contextValue: { run(): Sink | ExecutionResult | Promise<ExecutionResult> };
}

/** How often a source that waits for a slow peer looks whether it has caught up. */
const BEHIND_CHECK_INTERVAL_MS = 10;

/** graphql-ws only looks at the kind of the operation; a document of our own per operation would stay in memory with it. */
const SUBSCRIPTION_DOCUMENT = parse('subscription { crier }', { noLocation: true });
const QUERY_DOCUMENT = parse('{ crier }', { noLocation: true });

/** One `subscribe` message, from its arrival to its end. */
export class LiveOperation {
  /** Resolves when graphql-ws has forgotten the id. Never rejects. */
  settled: Promise<void> = Promise.resolve();
  readonly #id: string;
  readonly #outbox: Outbox;
  readonly #services: LiveOperationServices;
  #payload: SubscribePayload | undefined;
  /** Where the client wants to go on; undefined: it does not. */
  #cursor: unknown;
  #subscription: Subscription | undefined;
  #isEnded = false;

  constructor(id: string, payload: SubscribePayload, outbox: Outbox, services: LiveOperationServices) {
    this.#id = id;
    this.#payload = payload;
    this.#outbox = outbox;
    this.#services = services;
  }

  /** The client or the connection ended it: from now on nothing is sent for it. */
  end(): void {
    this.#isEnded = true;
    this.#subscription?.end();
  }

  /**
   * Everything before the first event: document, variables, authorisation, channel. Resolves once the subscription is
   * live, with errors when there will not be one.
   */
  async prepare(facts: ConnectionFacts): Promise<RunArgs | readonly GraphQLError[]> {
    const { runtime } = this.#services;
    const { query, operationName, variables, extensions } = this.#payload!;
    this.#cursor = cursorOf(extensions);
    this.#payload = undefined;
    const operation = runtime.prepare(query, operationName);
    if ('errors' in operation) return operation.errors;
    if (operation.type !== OperationTypeNode.SUBSCRIPTION) {
      return runArgs(runtime.schema, QUERY_DOCUMENT, () => runtime.execute(operation, variables ?? undefined, facts));
    }
    return this.#subscribe(operation, variables ?? undefined, facts);
  }

  async #subscribe(
    operation: Operation,
    variables: Record<string, unknown> | undefined,
    facts: ConnectionFacts,
  ): Promise<RunArgs | readonly GraphQLError[]> {
    const { runtime, hub, limits } = this.#services;
    const source = await runtime.subscribe(operation, variables, facts);
    if ('errors' in source) return source.errors;
    const subscription = new Subscription({
      id: this.#id,
      operation,
      variables,
      facts,
      outbox: this.#outbox,
      maxPendingEvents: limits.maxPendingEvents,
    });
    this.#subscription = subscription;
    if (this.#isEnded) subscription.end();
    if ('events' in source) {
      if (this.#cursor !== undefined) subscription.note('"resumed":false');
      const events = source.events[Symbol.asyncIterator]();
      const sink = new Sink(() => {
        subscription.end();
        void returnQuietly(events);
      });
      void this.#pump(events, subscription, sink);
      return runArgs(runtime.schema, SUBSCRIPTION_DOCUMENT, () => sink);
    }
    try {
      const { channel, sharingKey, replaysLast } = source;
      const cursor = this.#cursor;
      const start = cursor !== undefined || replaysLast ? { cursor, replaysLast } : undefined;
      const sink = new Sink(await hub.join(channel, sharingKey, subscription, start));
      return runArgs(runtime.schema, SUBSCRIPTION_DOCUMENT, () => sink);
    } catch (error) {
      if (!(error instanceof BusUnavailableError)) throw error;
      return [clientError('BUS_UNAVAILABLE', 'Events cannot be subscribed to right now; try again')];
    }
  }

  /**
   * Drives a source that is not a Kafka topic: one event at a time, the next one when the peer has room for it, so what a
   * source has at hand fills no queue. A source without a `return()` is only asked no more.
   */
  async #pump(events: AsyncIterator<unknown>, subscription: Subscription, sink: Sink): Promise<void> {
    const { runtime } = this.#services;
    try {
      for (let event = await events.next(); !event.done; event = await events.next()) {
        const { json } = await runtime.event(event.value).execute(subscription);
        subscription.deliver(nextRest(json));
        await nextTurn();
        while (this.#outbox.isBehind && !subscription.isEnded) await delay(BEHIND_CHECK_INTERVAL_MS);
        if (subscription.isEnded) return;
      }
      sink.end();
    } catch (error) {
      sink.fail(runtime.masked(error));
    }
  }
}

/** `extensions.resume.cursor` of a subscribe message; null where a resume has none. */
function cursorOf(extensions: Readonly<Record<string, unknown>> | null | undefined): unknown {
  const resume = extensions?.['resume'];
  if (typeof resume !== 'object' || resume === null) return undefined;
  return 'cursor' in resume ? resume.cursor : null;
}

function runArgs(schema: GraphQLSchema, document: DocumentNode, run: RunArgs['contextValue']['run']): RunArgs {
  return { schema, document, rootValue: undefined, contextValue: { run } };
}

/** Also the connection's end waits for graphql-ws, which waits for nothing that a source's `return()` may do. */
async function returnQuietly(events: AsyncIterator<unknown>): Promise<void> {
  try {
    await events.return?.();
  } catch {
    // The client has left: there is nobody to tell.
  }
}
