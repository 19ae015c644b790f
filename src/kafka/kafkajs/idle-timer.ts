import { createRequire } from 'node:module';

/** The part of kafkajs's RequestQueue that is touched. */
export interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests: (this: RequestQueue) => void;
}

const PATCHED = Symbol.for('crier.kafkajs.idle-timer');

/** kafkajs's own class, which it does not export. */
export function requestQueueClass(): { readonly prototype: RequestQueue } {
  return createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
}

/**
 * Ends the idle spin of kafkajs 2.2.4: a request queue with nothing pending sets a timer that is due at once, again and
 * again, about 700 times a second for each connection. With nothing pending there is nothing to check; a request
 * that has to wait schedules the check itself. https://github.com/tulios/kafkajs/issues/1751
 *
 * Installing it again does nothing. Returns what takes it back.
 */
export function stopIdleTimers(): () => void {
  const { prototype } = requestQueueClass();
  const original = prototype.scheduleCheckPendingRequests;
  if (PATCHED in original) return () => undefined;
  function scheduleCheckPendingRequests(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  }
  prototype.scheduleCheckPendingRequests = Object.assign(scheduleCheckPendingRequests, { [PATCHED]: true });
  return () => {
    prototype.scheduleCheckPendingRequests = original;
  };
}
