import type { ExecutionTrace } from '../../ops/tracing/execution-trace.ts';
import type { ConnectionFacts } from '../context/connection-facts.ts';
import type { FactReads } from '../context/fact-reads.ts';
import type { Operation } from '../documents/operation.ts';
import type { Payload } from '../payload.ts';
import type { TombstoneAction } from '../schema/tombstone-binding.ts';

/** The result of one event for one subscription. */
export interface EventResult {
  /** JSON text in UTF-8 without its closing brace, in pieces: `extensions` may follow. Results of one event share equal pieces. */
  readonly json: readonly Buffer[];
  /** The facts of the connection that the text may depend on; undefined: none. */
  readonly reads: FactReads | undefined;
  /** Requests to backends that the execution sent; undefined: none. */
  readonly backendRequests?: number;
}

/** A result that is computed later. */
export type PendingResult = Promise<EventResult> & {
  /** Nobody waits for it any more: aborts the signal of its execution, and so its requests to backends. */
  readonly abandon?: (reason: Error) => void;
};

/** A subscription, as its events' executions need it. */
export interface EventListener {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly facts: ConnectionFacts;
}

/** One event, for the subscriptions that share an operation and its variables. What is the same for all of them is computed once. */
export interface StartedEvent {
  /** Never throws, never rejects. @param trace undefined: the execution is not traced */
  execute(listener: EventListener, trace?: ExecutionTrace): EventResult | PendingResult;
  /** Executes it once more, with objects that no other execution has: for the sharing audit. */
  repeat(listener: EventListener): EventResult | Promise<EventResult>;
}

/** How the events of a Subscription field's source reach its subscriptions. */
export interface EventRules {
  /** What a tombstone, or the delete of a row, does; undefined: nothing. */
  readonly onDelete: TombstoneAction | undefined;
  /** True: its events are changes of rows (`bus/change-text.ts`). */
  readonly hasEnvelope: boolean;
  /** See `Binding`. */
  readonly skipsSnapshots: boolean;
  /** True if the field may be null. */
  readonly isNullable: boolean;
}

/** Executes events for subscriptions. */
export interface EventExecutor {
  /**
   * Starts an event: its payload is executed for subscriptions that share one operation and its variables.
   * @param operation default: that of the first subscription
   */
  startEvent(payload: Payload, operation?: Operation): StartedEvent;
  rulesOf(operation: Operation): EventRules;
}
