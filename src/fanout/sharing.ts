import type { Subscription } from './subscription.ts';

/** The JSON text of one subscription's result for a payload; never throws, and a promise never rejects. */
export type ExecuteEvent = (subscription: Subscription, payload: unknown) => string | Promise<string>;

/**
 * Gives every subscription of a channel its result for one event, and returns how many executions that took. This is the
 * seam where executions that would compute the same result can become one; today each subscription has its own, under
 * its own connection's context.
 */
export function executeForAll(payload: unknown, subscriptions: Iterable<Subscription>, execute: ExecuteEvent): number {
  let executions = 0;
  for (const subscription of subscriptions) {
    executions++;
    void subscription.accept(execute(subscription, payload));
  }
  return executions;
}
