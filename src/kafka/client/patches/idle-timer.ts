import { createRequire } from 'node:module';
import { patchMethod } from './patched-method.ts';

/** The part of kafkajs's RequestQueue that this file patches. */
export interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

/** A class of kafkajs that it does not export. */
function requestQueueClass(): { readonly prototype: RequestQueue } {
  return createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
}

/**
 * Stops the idle timers of kafkajs 2.2.4: a request queue without pending requests sets a timer of 0 ms over and over, about 700 times a
 * second per connection. Such a queue has nothing to check, and a request that must wait schedules the check itself.
 * https://github.com/tulios/kafkajs/issues/1704, https://github.com/tulios/kafkajs/issues/1751
 *
 * Idempotent. Returns a function that removes the patch.
 */
export function stopIdleTimers(): () => void {
  return patchMethod(
    requestQueueClass().prototype,
    'scheduleCheckPendingRequests',
    (original) =>
      function () {
        if (this.pending.length > 0) original.call(this);
      },
  );
}
