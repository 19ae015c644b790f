import { Worker } from 'node:worker_threads';

export interface WatchdogOptions {
  /** Time from the first signal to the end, in ms. The main thread's own deadline comes first. */
  readonly timeoutMs: number;
}

/**
 * Ends a process whose main thread is blocked after SIGTERM or SIGINT: a graph's code may loop for ever, and the handlers of the main
 * thread then never run. The thread sees the signals itself, and sleeps until then. It sends SIGKILL, which process 1 of a container
 * ignores: there the container runtime sends its own after the grace period.
 * @param onFailure called if there is no watchdog from now on
 */
export function startWatchdog(options: WatchdogOptions, onFailure: (error: Error) => void): void {
  const thread = new Worker(new URL('watchdog-thread.js', import.meta.url), {
    workerData: options,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  thread.on('error', onFailure);
  thread.unref();
}
