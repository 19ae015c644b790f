import type { ConnectionFacts } from '../context/connection-facts.ts';
import type { Operation } from '../graph/operation.ts';
import { nextMessage, nextPrefix } from './frame.ts';
import type { Outbox } from './outbox.ts';

export interface SubscriptionOptions {
  readonly id: string;
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
  readonly outbox: Outbox;
  /** Results that may wait for an earlier execution; one more closes the connection as a slow consumer. */
  readonly maxPendingEvents: number;
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
  readonly #outbox: Outbox;
  readonly #maxPendingEvents: number;
  #isEnded = false;
  #pendingEvents = 0;
  #lastPending: Promise<void> | undefined;

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
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Takes the result of the next event, as JSON text. A promise must not reject.
   * @returns undefined when it was sent at once, else a promise of that moment.
   */
  accept(result: string | Promise<string>): Promise<void> | undefined {
    if (this.#isEnded) return undefined;
    if (typeof result === 'string' && this.#lastPending === undefined) {
      this.#outbox.send(nextMessage(this.#prefix, result));
      return undefined;
    }
    if (this.#pendingEvents >= this.#maxPendingEvents) {
      this.#outbox.refuse();
      return undefined;
    }
    this.#pendingEvents++;
    const pending = this.#sendAfter(this.#lastPending, result);
    this.#lastPending = pending;
    return pending;
  }

  async #sendAfter(previous: Promise<void> | undefined, result: string | Promise<string>): Promise<void> {
    const json = await result;
    await previous;
    if (--this.#pendingEvents === 0) this.#lastPending = undefined;
    if (!this.#isEnded) this.#outbox.send(nextMessage(this.#prefix, json));
  }
}
