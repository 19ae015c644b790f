/** What is subscribed to, or executed. */
export interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** Events for one row: an operation that goes on, and what causes its events. */
export interface Feed {
  readonly operation: Operation;
  /** Causes one event. Undefined if the server sends events by itself. */
  readonly trigger?: (() => void | Promise<void>) | undefined;
}

/**
 * What a row needs of a server beside the protocol. `query`: one that is answered with data. `subscription`: one that goes on until it
 * is completed. `events`: events of that subscription. `refused params`: a payload of connection_init that is refused.
 */
export type Need = 'query' | 'subscription' | 'events' | 'refused params';

/** A server, and what its rows may use. */
export interface Subject {
  /** ws: or wss: */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Payload of `connection_init`. */
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined;
  readonly refusedParams?: Readonly<Record<string, unknown>> | undefined;
  readonly query: Operation;
  /** A feed for one row. Only rows that need `subscription` call it. */
  feed(): Feed;
  /** Needs that are not met, with the reason and what would meet them. */
  readonly missing: ReadonlyMap<Need, string>;
}
