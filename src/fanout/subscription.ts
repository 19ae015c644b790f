import type { ConnectionFacts } from '../context/connection-facts.ts';
import type { Operation } from '../graph/operation.ts';
import { nextMessage, nextPrefix } from './frame.ts';
import type { Outbox } from './outbox.ts';

export interface SubscriptionOptions {
  readonly id: string;
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
  readonly outbox: Pick<Outbox, 'send' | 'refuse'>;
  /** Results that may wait for an earlier execution; one more closes the connection as a slow consumer. */
  readonly maxPendingEvents: number;
}

/** The turn of a result that is not there yet. */
export interface Place {
  json: string | undefined;
}

/**
 * A live operation's place in the hub: what to execute for it and where its results go. Executions may finish in any
 * order; results leave in the order of their events.
 */
export class Subscription {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
  readonly #prefix: string;
  readonly #outbox: SubscriptionOptions['outbox'];
  readonly #maxPendingEvents: number;
  #isEnded = false;
  /** Of the events whose results have not left, in their order. */
  #places: Place[] | undefined;

  constructor(options: SubscriptionOptions) {
    this.operation = options.operation;
    this.variables = options.variables;
    this.facts = options.facts;
    this.#prefix = nextPrefix(options.id);
    this.#outbox = options.outbox;
    this.#maxPendingEvents = options.maxPendingEvents;
  }

  /** Nothing is sent after this. */
  end(): void {
    this.#isEnded = true;
    this.#places = undefined;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes the next place in the order of results; it must be delivered to, whatever happens. */
  reserve(): Place {
    const place: Place = { json: undefined };
    const places = (this.#places ??= []);
    if (places.length < this.#maxPendingEvents) places.push(place);
    else this.#outbox.refuse();
    return place;
  }

  /** A result, as JSON text: of a reserved place, or of the event after all those that were delivered or have a place. */
  deliver(json: string, place?: Place): void {
    if (this.#isEnded) return;
    if (place === undefined && this.#places === undefined) return this.#send(json);
    (place ?? this.reserve()).json = json;
    while (this.#places?.[0]?.json !== undefined) this.#send(this.#places.shift()!.json!);
    if (this.#places?.length === 0) this.#places = undefined;
  }

  #send(json: string): void {
    this.#outbox.send(nextMessage(this.#prefix, json));
  }
}
