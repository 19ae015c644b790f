import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { resultBytesOf } from '../fanout/outbox/frame.ts';
import { ResultTimes } from '../fanout/outbox/result-times.ts';
import type { Subscription } from '../fanout/subscription.ts';
import type { Refusal } from '../../graph/refusal.ts';
import type { EventSource, OwnSource } from '../../graph/event-source.ts';
import type { PendingResult } from '../../graph/execution/event-executor.ts';
import type { OperationRunner } from '../../graph/operation-runner.ts';

export interface OwnSourceOwner {
  /** The source has no more events. */
  onSourceEnd(): void;
  /** The source or an execution has failed. */
  onSourceFailure(error: unknown): void;
}

const LEFT = new Error('the subscriber has left');

/** The latest execution of a source's events. */
interface InFlight {
  /** undefined: it has settled. */
  result: PendingResult | undefined;
}

/** Interval in ms at which a source whose results wait checks them again. */
const LAG_CHECK_INTERVAL_MS = 10;

/**
 * Delivers the events of a source that is not a Kafka topic to one subscription, until either ends.
 * @returns calls the source's `return()`, in the source's async context
 */
export function followSource(
  { events: source, pubsub, abandon }: OwnSource,
  subscription: Subscription,
  runtime: Pick<OperationRunner, 'startEvent'>,
  owner: OwnSourceOwner,
): () => void {
  const events = source[Symbol.asyncIterator]();
  const inFlight: InFlight = { result: undefined };
  void pump(events, subscription, runtime, owner, inFlight).finally(() => pubsub?.close());
  return AsyncResource.bind(() => {
    abandon(LEFT);
    inFlight.result?.abandon?.(LEFT);
    // A generator that waits for an event would not return before the next one.
    pubsub?.close();
    void returnQuietly(events);
  });
}

/** Ends what the graph has opened for a source that nobody follows. */
export function discardSource(source: EventSource | Refusal): void {
  if (!('events' in source)) return;
  source.abandon(LEFT);
  source.pubsub?.close();
  void returnQuietly(source.events[Symbol.asyncIterator]());
}

/**
 * Requests the next event when no result waits, so a fast source fills no queue. A source without `return()` is only not requested any more.
 * The owner hears nothing of a source whose subscription has ended.
 */
async function pump(
  events: AsyncIterator<unknown>,
  subscription: Subscription,
  runtime: Pick<OperationRunner, 'startEvent'>,
  owner: OwnSourceOwner,
  inFlight: InFlight,
): Promise<void> {
  try {
    for (let event = await events.next(); !event.done; event = await events.next()) {
      if (subscription.isEnded) return;
      const result = runtime.startEvent({ value: event.value }, subscription.operation).execute(subscription);
      if (result instanceof Promise) inFlight.result = result;
      const { json } = await result;
      inFlight.result = undefined;
      subscription.deliver(resultBytesOf(json, undefined, new ResultTimes()));
      await nextTurn();
      while (subscription.isLagging && !subscription.isEnded) await delay(LAG_CHECK_INTERVAL_MS);
      if (subscription.isEnded) return;
    }
    if (!subscription.isEnded) owner.onSourceEnd();
  } catch (error) {
    if (!subscription.isEnded) owner.onSourceFailure(error);
  }
}

/** Calls the source's `return()` and ignores its outcome. */
async function returnQuietly(events: AsyncIterator<unknown>): Promise<void> {
  try {
    await events.return?.();
  } catch {
    // The client has left: no message can report the error.
  }
}
