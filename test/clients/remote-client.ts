import { untold } from './client.ts';
import type { Client, Subscription } from './client.ts';

/** What a client in another program is told: a subscription, or the end of one. */
export type Command = { readonly id: number } & Partial<{ readonly query: string; readonly variables: object }>;

/** What it tells of a subscription. */
export interface Report {
  readonly id: number;
  readonly data?: unknown;
  readonly errors?: readonly string[];
  readonly isComplete?: boolean;
}

/** A client in another program, which takes commands and reports each result. */
export class RemoteClient implements Client {
  readonly #subscriptions: Subscription[] = [];
  readonly #send: (command: Command) => void;
  readonly close: () => Promise<void>;

  constructor(send: (command: Command) => void, close: () => Promise<void>) {
    this.#send = send;
    this.close = close;
  }

  subscribe(query: string, variables: object): Subscription {
    const id = this.#subscriptions.length;
    const started = untold(() => this.#send({ id }));
    this.#subscriptions.push(started);
    this.#send({ id, query, variables });
    return started;
  }

  keep({ id, data, errors, isComplete }: Report): void {
    const told = this.#subscriptions[id]!;
    if (errors) told.errors.push(...errors);
    else if (isComplete) told.isComplete = true;
    else told.events.push(data);
  }

  /** The program has ended. */
  fail(reason: string): void {
    for (const { errors } of this.#subscriptions) errors.push(reason);
  }
}
