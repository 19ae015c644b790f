import { patchMethod } from './patched-method.ts';
import { runnerClass } from './runner.ts';

/**
 * Ends the fetchers of a consumer that has stopped. kafkajs 2.2.4 makes new fetchers when a broker joins or leaves. A consumer that is
 * stopped while the former ones end never stops the new ones: their fetches return at once, without I/O, so the process does nothing else
 * for ever. A fetch that finds its consumer stopped stops the fetchers now, and `stop` returns.
 *
 * Idempotent. Returns a function that removes the patch.
 */
export function endStoppedRunners(): () => void {
  return patchMethod(
    runnerClass().prototype,
    'fetch',
    (original) =>
      async function (nodeId) {
        if (this.running) return original.call(this, nodeId);
        // Not awaited: it waits for the fetcher that asks.
        void this.fetchManager.stop();
        return [];
      },
  );
}
