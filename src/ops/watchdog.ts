import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { LogFormat } from '../base/log.ts';

/** Time in ms between two turns that the main thread reports, and between two looks of the thread. */
export const TICK_MS = 1000;
/** In the shared cell while a loop that stands still is no failure. Otherwise the cell holds the number of turns reported, from 1. */
export const PAUSED = 0;
/** Least limit in ms: the import of a graph, or a garbage collection, may block a busy machine's loop for seconds. */
const MIN_LIMIT_MS = 5000;
/** Longest wait in ms for the last line: nobody may read the pipe. */
export const LINE_MS = 500;
/**
 * Longest time in ms from the limit to the end. The limit is rounded up to ticks, the first look comes up to a tick after the report, one
 * more tick comes after the limit, and the last line takes its time.
 */
export const MAX_OVERRUN_MS = 3 * TICK_MS + LINE_MS;

export interface WatchdogOptions {
  /**
   * Longest time in ms without a turn of the event loop, and from `expectEnd` to the end; at least 5 s. The end comes `MAX_OVERRUN_MS`
   * later at the latest.
   */
  readonly timeoutMs: number;
  /** Fields of every line of the log. */
  readonly facts: Readonly<Record<string, string>>;
  readonly format: LogFormat;
  /** Called if there is no watchdog from now on. */
  readonly onFailure: (error: Error) => void;
}

export interface Watchdog {
  /** The loop may stand still until its next turn: code of crier is about to block it. Without effect once the end is expected. */
  pause(): void;
  /** The process must end within `timeoutMs` from now on, whether its loop turns or not. Idempotent. */
  expectEnd(): void;
}

export interface WatchdogThreadData {
  readonly cell: Int32Array;
  readonly limitMs: number;
  readonly facts: Readonly<Record<string, string>>;
  readonly format: LogFormat;
}

/**
 * Ends a process whose event loop is blocked: a graph's code may loop for ever, and then no signal is handled and no deadline passes. A
 * thread counts its own ticks since the main thread's last report, not time: a process that was stopped, or a machine that was asleep,
 * ends nothing. It pauses while the inspector is open, because a debugger stops the loop. It sends SIGKILL, which process 1 of a container
 * ignores: there the liveness probe has the pod restarted.
 */
export function startWatchdog({ timeoutMs, facts, format, onFailure }: WatchdogOptions): Watchdog {
  const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let turns = 0;
  const report = () => void Atomics.store(cell, 0, inspectorUrl() === undefined ? ++turns : PAUSED);
  report();
  const timer = setInterval(report, TICK_MS).unref();
  const workerData: WatchdogThreadData = { cell, limitMs: Math.max(timeoutMs, MIN_LIMIT_MS), facts, format };
  const thread = new Worker(new URL('watchdog-thread.js', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 },
  });
  thread.on('error', onFailure);
  thread.unref();
  let isEndExpected = false;
  return {
    pause() {
      if (!isEndExpected) Atomics.store(cell, 0, PAUSED);
    },
    expectEnd() {
      if (isEndExpected) return;
      isEndExpected = true;
      clearInterval(timer);
      // Ends a pause.
      report();
    },
  };
}
