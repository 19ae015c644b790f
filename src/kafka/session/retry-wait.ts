import { LogWindow } from '../../log.ts';
import type { Logger } from '../../log.ts';
import { partitionKey } from '../partition-key.ts';

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 1000;
const LOG_WINDOW_MS = 5000;

export interface RetryWaitOptions {
  readonly log: Logger;
  /** Ends of the log lines `a partition is paused: …` and `no partition is paused any more: …`. */
  readonly reasons: { readonly pause: string; readonly resume: string };
  /** Receives the number of partitions that wait. */
  readonly onChange: (partitions: number) => void;
}

interface Waiting {
  readonly topic: string;
  readonly partition: number;
  readonly timer: NodeJS.Timeout;
  readonly delayMs: number;
  readonly resume: () => void;
}

/**
 * Partitions whose records cannot be processed now, because of another server. Each is retried after 50 ms, then after twice the last
 * delay, at most 1 s, until records of it are accepted. Holds one entry for each such partition.
 */
export class RetryWait {
  readonly #options: RetryWaitOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** True if the log says that a partition is paused. */
  #isLogged = false;

  constructor(options: RetryWaitOptions) {
    this.#options = options;
  }

  get partitions(): readonly { readonly topic: string; readonly partition: number }[] {
    return [...this.#waiting.values()];
  }

  has(topic: string, partition: number): boolean {
    return this.#waiting.has(partitionKey(topic, partition));
  }

  /** Calls `resume` once, when the partition is due for a retry. */
  add(topic: string, partition: number, resume: () => void, error: Error): void {
    const key = partitionKey(topic, partition);
    const before = this.#waiting.get(key);
    clearTimeout(before?.timer);
    const delayMs = before ? Math.min(before.delayMs * 2, MAX_DELAY_MS) : FIRST_DELAY_MS;
    if (this.#waiting.size === 0) this.#logPause(topic, partition, error);
    this.#waiting.set(key, { topic, partition, delayMs, resume, timer: setTimeout(resume, delayMs) });
    this.#options.onChange(this.#waiting.size);
  }

  /** Records of the partition were accepted. */
  delete(topic: string, partition: number): void {
    if (!this.#waiting.delete(partitionKey(topic, partition))) return;
    this.#options.onChange(this.#waiting.size);
    if (this.#waiting.size > 0 || !this.#isLogged) return;
    this.#isLogged = false;
    this.#options.log.info(`no partition is paused any more: ${this.#options.reasons.resume}`);
  }

  /** Resumes and removes the partitions that are no longer assigned. */
  retain(isAssigned: (topic: string, partition: number) => boolean): void {
    for (const { topic, partition, timer, resume } of [...this.#waiting.values()]) {
      if (isAssigned(topic, partition)) continue;
      clearTimeout(timer);
      this.#waiting.delete(partitionKey(topic, partition));
      resume();
    }
    this.#options.onChange(this.#waiting.size);
  }

  /** Resumes no partition after this. Idempotent. */
  close(): void {
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#options.onChange(0);
  }

  #logPause(topic: string, partition: number, { message }: Error): void {
    this.#window.run('paused', (suppressed) => {
      this.#isLogged = true;
      const { log, reasons } = this.#options;
      log.warn({ topic, partition, err: { message }, suppressed }, `a partition is paused: ${reasons.pause}`);
    });
  }
}
