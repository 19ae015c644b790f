import type { OperationPubSub } from './context/pubsub/operation-pubsub.ts';
import type { EventFilter } from './filter/event-filter.ts';
import type { Pace } from './pace.ts';

/** Channels of the bus that feed a subscription. */
export interface ChannelSource {
  /** Name of the subscription field. */
  readonly field: string;
  readonly channels: readonly string[];
  /** Subscriptions of one channel with equal keys may share results; undefined: it shares with nobody. */
  readonly sharingKey: string | undefined;
  /** undefined: it receives all events of its channels. */
  readonly filter: EventFilter | undefined;
  readonly replaysLast: boolean;
  readonly hasState: boolean;
  readonly hasHistory: boolean;
  /** undefined: it receives each event. */
  readonly pace?: Pace | undefined;
}

/** What the graph's own `subscribe` returned. */
export interface OwnSource {
  /** Name of the subscription field. */
  readonly field: string;
  readonly events: AsyncIterable<unknown>;
  readonly pubsub: OperationPubSub | undefined;
  /** Nobody waits for its events any more: aborts `context.signal` of `subscribe`. */
  readonly abandon: (reason: Error) => void;
}

/** Where a subscription's events come from. */
export type EventSource = ChannelSource | OwnSource;
