import { setMaxListeners } from 'node:events';
import type { Change } from '../../bus/change-text.ts';
import type { Backend } from './backend.ts';
import type { PubSub } from './pubsub/pubsub.ts';
import type { Claims, ConnectionFacts, ConnectionRequest } from './connection-facts.ts';
import type { EventRecord, SourceEvent } from './event-record.ts';
import { executionBackends } from './execution-backends.ts';
import type { BackendPort } from './execution-backends.ts';
import { ExecutionRequests } from './execution-requests.ts';
import { TracedBackends } from './traced-backends.ts';
import { ExecutionNodes } from './execution-nodes.ts';
import { traceHeaders } from './publishing.ts';
import type { NewRecord, Publish, PublishedRecord } from './publishing.ts';
import type { ExecutionTrace } from '../../ops/tracing/execution-trace.ts';
import { trackReads } from './fact-reads.ts';
import type { FactTest, TrackedFacts, TrackedReads } from './fact-reads.ts';

/**
 * The third argument of a resolver. It is made for one execution (one event of one operation); its parts are made when they are first
 * read.
 */
export interface ExecutionContext<Loaders extends object = object, BackendName extends string = string> {
  readonly backends: Readonly<Record<BackendName, Backend>>;
  readonly loaders: Loaders;
  /**
   * The only access to what differs between connections; every read is recorded. Its objects are Proxies, which `structuredClone`
   * refuses; `JSON.parse(JSON.stringify(…))` copies them.
   */
  readonly connection: ConnectionFacts;
  /** Publishes events on Redis channels; in the `subscribe` of a Subscription field it receives them, too. */
  readonly pubsub: PubSub;
  /** Of the event; undefined in queries, mutations and `authorize` of a subscription, and if the event does not come from Kafka. */
  readonly record: EventRecord | undefined;
  /** Publishes a record to a Kafka topic. Rejects in executions of queries and events, which may run several times. */
  readonly publish: Publish;
  /**
   * Aborted when nobody waits for the result any more: the last subscriber, or the caller, has left, or EXECUTION_TIMEOUT_MS has passed.
   * Requests to backends end with it. That of a mutation is not aborted.
   */
  readonly signal: AbortSignal;
}

/** The exports of a graph's `context.ts`, all optional. */
export interface ContextDefinition<Loaders extends object = object> {
  /** Names of the backends in `context.backends`; `BACKEND_<NAME>_URL` sets the URL of each. */
  readonly backends?: readonly string[];
  /** Called at the first read of `context.loaders` in an execution; written with `Proxy.lazy`. */
  createLoaders?(context: ExecutionContext<Loaders>): Loaders;
  /**
   * Returns the connection's claims (plain JSON data), or false to refuse it (4403). A throw refuses it, too. Default: the claims of its
   * token.
   */
  authenticate?(request: ConnectionRequest): MaybePromise<Claims | Acknowledgement | false | null | undefined>;
}

/** What `authenticate` may return instead of the claims. An object with other keys beside `claims` and `ack` is the claims. */
export interface Acknowledgement {
  readonly claims: Claims;
  /** Payload of `connection_ack`: plain JSON data. */
  readonly ack?: Readonly<Record<string, unknown>>;
}

type MaybePromise<T> = T | Promise<T>;

/**
 * @param trace undefined: the execution is not traced
 * @param pubsub undefined: there is no bus
 * @param event undefined: the execution is not for an event
 */
export function createContext(
  definition: ContextDefinition,
  backends: BackendPort,
  facts: ConnectionFacts,
  trace?: ExecutionTrace,
  pubsub?: PubSub,
  event?: SourceEvent,
): ExecutionContext {
  return new LazyContext(definition, backends, facts, trace, pubsub, event);
}

interface MutationPorts {
  readonly publish: Publish;
  readonly pubsub: PubSub | undefined;
}

/** The context of a mutation, which may publish records. */
export function createMutationContext(
  definition: ContextDefinition,
  backends: BackendPort,
  facts: ConnectionFacts,
  ports: MutationPorts,
): ExecutionContext {
  return new MutationContext(definition, backends, facts, ports);
}

/** What the execution with this context has read of its connection so far; undefined: nothing. */
export function readsOf(context: ExecutionContext): TrackedReads | undefined {
  return LazyContext.readsOf(context);
}

/**
 * The answer of a test about the connection of the execution with this context: of the connection, it reads the answer only.
 * @throws TypeError for a context that crier did not make
 */
export function answerOf(context: unknown, test: FactTest): string {
  return LazyContext.answerOf(context, test);
}

/** What happened to the row of the event that the execution with this context is for; undefined: there is no such event, or it does not say. */
export function changeOf(context: unknown): Change | undefined {
  return LazyContext.changeOf(context);
}

/** The execution with this context begins again: its requests to backends receive the outcomes of equal ones that it has sent. */
export function beginRepeat(context: unknown): void {
  LazyContext.beginRepeat(context);
}

/** The execution with this context has settled, or none follows: no later request is kept. Returns the requests sent so far. */
export function settleRequests(context: ExecutionContext): number {
  return LazyContext.settleRequests(context);
}

/** Nobody waits for the execution with this context any more. */
export function abandon(context: ExecutionContext, reason: Error): void {
  LazyContext.abandon(context, reason);
}

/** `context.signal`; one that is never aborted for a context that crier did not make. */
export function signalOf(context: unknown): AbortSignal {
  return LazyContext.signalOf(context);
}

/** The execution's own copies of AST nodes; undefined for a context that crier did not make. */
export function nodesOf(context: unknown): ExecutionNodes | undefined {
  return LazyContext.nodesOf(context);
}

const NONE: object = Object.freeze({});

class LazyContext implements ExecutionContext {
  readonly #definition: ContextDefinition;
  readonly #port: BackendPort;
  readonly #facts: ConnectionFacts;
  readonly #trace: ExecutionTrace | undefined;
  readonly #pubsub: PubSub | undefined;
  readonly #event: SourceEvent | undefined;
  #backends: Readonly<Record<string, Backend>> | undefined;
  #loaders: object | undefined;
  #tracked: TrackedFacts | undefined;
  #nodes: ExecutionNodes | undefined;
  /** undefined: none has been sent; null: none was sent before the execution settled. */
  #requests: ExecutionRequests | null | undefined;
  #controller: AbortController | undefined;

  static readsOf(context: ExecutionContext): TrackedReads | undefined {
    return #tracked in context ? context.#tracked?.reads : undefined;
  }

  static answerOf(context: unknown, test: FactTest): string {
    if (typeof context !== 'object' || context === null || !(#tracked in context)) {
      throw new TypeError('not the context of an execution');
    }
    return context.#track().reads.answer(test);
  }

  static changeOf(context: unknown): Change | undefined {
    return typeof context === 'object' && context !== null && #event in context ? context.#event?.change : undefined;
  }

  static beginRepeat(context: unknown): void {
    if (typeof context === 'object' && context !== null && #requests in context) context.#requests?.repeat();
  }

  static settleRequests(context: ExecutionContext): number {
    if (!(#requests in context)) return 0;
    const requests = (context.#requests ??= null);
    requests?.settle();
    return requests?.count ?? 0;
  }

  static abandon(context: ExecutionContext, reason: Error): void {
    if (#controller in context) context.#abortController().abort(reason);
  }

  static signalOf(context: unknown): AbortSignal {
    const isOwn = typeof context === 'object' && context !== null && #controller in context;
    return isOwn ? context.signal : new AbortController().signal;
  }

  static nodesOf(context: unknown): ExecutionNodes | undefined {
    if (typeof context !== 'object' || context === null || !(#nodes in context)) return undefined;
    return (context.#nodes ??= new ExecutionNodes());
  }

  constructor(
    definition: ContextDefinition,
    port: BackendPort,
    facts: ConnectionFacts,
    trace: ExecutionTrace | undefined,
    pubsub: PubSub | undefined,
    event: SourceEvent | undefined,
  ) {
    this.#definition = definition;
    this.#port = port;
    this.#facts = facts;
    this.#trace = trace;
    this.#pubsub = pubsub;
    this.#event = event;
  }

  get backends(): Readonly<Record<string, Backend>> {
    return (this.#backends ??= executionBackends(this.#definition.backends ?? [], this.#openRequests(), this));
  }

  #openRequests(): ExecutionRequests {
    const requests = new ExecutionRequests(this.#trace ? new TracedBackends(this.#port, this.#trace) : this.#port);
    if (this.#requests === null) requests.settle();
    return (this.#requests = requests);
  }

  get loaders(): object {
    return (this.#loaders ??= this.#definition.createLoaders?.(this) ?? NONE);
  }

  get pubsub(): PubSub {
    if (!this.#pubsub) throw new TypeError('context.pubsub has no bus');
    return this.#pubsub;
  }

  get connection(): ConnectionFacts {
    return this.#track().facts;
  }

  get record(): EventRecord | undefined {
    return this.#event?.record;
  }

  get signal(): AbortSignal {
    return this.#abortController().signal;
  }

  #abortController(): AbortController {
    if (!this.#controller) {
      this.#controller = new AbortController();
      // Each request of the execution listens.
      setMaxListeners(0, this.#controller.signal);
    }
    return this.#controller;
  }

  publish(topic: string, record: NewRecord): Promise<PublishedRecord>;
  publish(): Promise<PublishedRecord> {
    return Promise.reject(
      new TypeError('context.publish is for resolvers of mutations: other executions may be repeated'),
    );
  }

  #track(): TrackedFacts {
    return (this.#tracked ??= trackReads(this.#facts));
  }
}

class MutationContext extends LazyContext {
  readonly #publish: Publish;

  constructor(
    definition: ContextDefinition,
    port: BackendPort,
    facts: ConnectionFacts,
    { publish, pubsub }: MutationPorts,
  ) {
    super(definition, port, facts, undefined, pubsub, undefined);
    this.#publish = publish;
    // Resolvers may destructure the context.
    this.publish = this.publish.bind(this);
  }

  override publish(topic: string, record: NewRecord): Promise<PublishedRecord> {
    return this.#publish(topic, { ...record, headers: { ...traceHeaders(this.connection), ...record.headers } });
  }
}
