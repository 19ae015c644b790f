import type { EventListener, EventResult } from '../../../graph/execution/event-execution.ts';
import type { Operation } from '../../../graph/documents/operation.ts';
import type { Payload } from '../../../graph/payload.ts';
import type { TombstoneAction } from '../../../graph/schema/tombstone-binding.ts';
import type { ExecutionTrace } from '../../../ops/tracing/execution-trace.ts';
import type { Subscription } from '../subscription.ts';

/** Executes events for subscriptions: the graph's runtime. */
export interface EventExecutor {
  /**
   * Starts an event for the members of one sharing group. What is the same for all of them is computed once.
   * @param operation of the group; undefined: that of its first member
   */
  startEvent(payload: Payload, operation: Operation | undefined): StartedEvent;
  /** What a tombstone does to the subscriptions of an operation; undefined: nothing. */
  tombstoneActionOf(operation: Operation): TombstoneAction | undefined;
}

export interface StartedEvent {
  /** Executes the event for one member. @param trace of the execution; undefined: it is not traced */
  execute(member: Subscription, trace?: ExecutionTrace): EventResult | Promise<EventResult>;
  /** Executes it once more, with objects that no other execution has: for the sharing audit. */
  repeat(listener: EventListener): EventResult | Promise<EventResult>;
}
