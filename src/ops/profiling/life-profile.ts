import { console as inspectorConsole } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { CallTally } from './call-tally.ts';
import type { TalliedProfile } from './call-tally.ts';

/** Sampling interval in µs. */
export const LIFE_INTERVAL_US = 10_000;
/** V8 keeps all samples of a window in memory: 6,000 in this time, in ms. */
const WINDOW_MS = 60_000;
/** A window ends later, by this time in ms and so often at the most, if the event loop is later than MAX_LAG_MS when its time has come. */
const POSTPONED_MS = 60_000;
const MAX_POSTPONED = 3;
const MAX_LAG_MS = 500;

export interface LifeProfileOptions {
  readonly windowMs?: number;
}

/**
 * A CPU profile of a process from now to its end. V8 keeps each sample, so consecutive windows are recorded, and summed in a `CallTally`.
 *
 * V8 searches the whole heap for code when a session begins to profile: 2 s for a heap of 466 MB of small objects, 36 ms at the start of the
 * process. So each window begins before the one before it ends, which the commands of the console can do and `Profiler.start` cannot: one
 * session profiles all the time. The end of a window takes the event loop about 10 µs for each call of its tree.
 */
export class LifeProfile {
  readonly #session = new Session();
  readonly #tally = new CallTally(LIFE_INTERVAL_US);
  readonly #windowMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** Of the current window; all sessions of the process see its title. */
  #title = '';
  #windows = 0;
  #isRecording = false;

  constructor({ windowMs = WINDOW_MS }: LifeProfileOptions = {}) {
    this.#windowMs = windowMs;
  }

  /** Called once. */
  async start(): Promise<void> {
    const session = this.#session;
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: LIFE_INTERVAL_US });
    session.on('Profiler.consoleProfileFinished', ({ params: { title, profile } }) => {
      if (title === this.#title) this.#tally.add(profile);
    });
    this.#isRecording = true;
    this.#begin();
    this.#wait(this.#windowMs);
  }

  /** Ends the recording, and returns the sum of all windows. Idempotent. */
  stop(): TalliedProfile {
    if (this.#isRecording) {
      this.#isRecording = false;
      clearTimeout(this.#timer);
      inspectorConsole.profileEnd(this.#title);
      this.#session.disconnect();
    }
    return this.#tally.profile();
  }

  #begin(): void {
    const before = this.#title;
    const title = `crier: window ${++this.#windows} of its life`;
    inspectorConsole.profile(title);
    // The event is synchronous.
    if (before !== '') inspectorConsole.profileEnd(before);
    this.#title = title;
  }

  #wait(ms: number, postponed = 0): void {
    const dueAt = performance.now() + ms;
    this.#timer = setTimeout(() => {
      const isLate = performance.now() - dueAt > MAX_LAG_MS;
      if (isLate && postponed < MAX_POSTPONED) return this.#wait(POSTPONED_MS, postponed + 1);
      this.#begin();
      this.#wait(this.#windowMs);
    }, ms).unref();
  }
}
