/**
 * The interface of graphql-subscriptions. A trigger is the name of a Redis channel, which other programs and fields with @redis may use,
 * too. Payloads travel as JSON and arrive frozen.
 */
export interface PubSub {
  /** Rejects with BUS_UNAVAILABLE if Redis does not accept it. */
  publish(trigger: string, payload: unknown): Promise<void>;
  /**
   * Resolves with an id for `unsubscribe` once every later event reaches `onMessage`. Like the iterators, it ends with the operation.
   * Only in the `subscribe` of a Subscription field.
   */
  subscribe(trigger: string, onMessage: (payload: unknown) => void): Promise<number>;
  unsubscribe(id: number): void;
  /** Subscribes at once, not at the first `next()`. Only in the `subscribe` of a Subscription field. */
  asyncIterableIterator<T>(triggers: string | readonly string[]): AsyncIterableIterator<T>;
  /** The name of `asyncIterableIterator` in graphql-subscriptions 2. */
  asyncIterator<T>(triggers: string | readonly string[]): AsyncIterableIterator<T>;
}

/** What resolvers receive: they end before an event could arrive, so they can only publish. */
export class Publishing implements PubSub {
  readonly #channels: Pick<PubSub, 'publish'>;

  constructor(channels: Pick<PubSub, 'publish'>) {
    this.#channels = channels;
  }

  publish(trigger: string, payload: unknown): Promise<void> {
    return this.#channels.publish(trigger, payload);
  }

  subscribe(): never {
    throw notHere('subscribe');
  }

  unsubscribe(): never {
    throw notHere('unsubscribe');
  }

  asyncIterableIterator(): never {
    throw notHere('asyncIterableIterator');
  }

  asyncIterator(): never {
    throw notHere('asyncIterator');
  }
}

function notHere(method: string): TypeError {
  return new TypeError(
    `context.pubsub.${method} belongs in the \`subscribe\` of a Subscription field; other code of a graph can only publish`,
  );
}
