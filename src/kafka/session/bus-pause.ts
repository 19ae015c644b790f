import { LogWindow } from '../../log.ts';
import type { Logger } from '../../log.ts';
import { partitionKey } from '../partition-key.ts';

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 1000;
const LOG_WINDOW_MS = 5000;

export interface BusPauseOptions {
  readonly log: Logger;
  /** Receives the number of partitions that wait for the bus. */
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
 * Partitions whose last publish the bus refused. Each is retried after 50 ms, then after twice the last delay, at most 1 s, until
 * the bus accepts its messages. Holds one entry for each such partition.
 */
export class BusPause {
  readonly #options: BusPauseOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** True if the log says that a partition is paused. */
  #isLogged = false;

  constructor(options: BusPauseOptions) {
    this.#options = options;
  }

  get partitions(): readonly { readonly topic: string; readonly partition: number }[] {
    return [...this.#waiting.values()];
  }

  has(topic: string, partition: number): boolean {
    return this.#waiting.has(partitionKey(topic, partition));
  }

  /** The bus refused a partition's messages. Calls `resume` once, when they are due for a retry. */
  add(topic: string, partition: number, resume: () => void): void {
    const key = partitionKey(topic, partition);
    const before = this.#waiting.get(key);
    clearTimeout(before?.timer);
    const delayMs = before ? Math.min(before.delayMs * 2, MAX_DELAY_MS) : FIRST_DELAY_MS;
    if (this.#waiting.size === 0) this.#logPause(topic, partition);
    this.#waiting.set(key, { topic, partition, delayMs, resume, timer: setTimeout(resume, delayMs) });
    this.#options.onChange(this.#waiting.size);
  }

  /** The bus accepted a partition's messages. */
  delete(topic: string, partition: number): void {
    if (!this.#waiting.delete(partitionKey(topic, partition))) return;
    this.#options.onChange(this.#waiting.size);
    if (this.#waiting.size > 0 || !this.#isLogged) return;
    this.#isLogged = false;
    this.#options.log.info('no partition is paused any more: the bus accepts messages');
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

  #logPause(topic: string, partition: number): void {
    this.#window.run('paused', (suppressed) => {
      this.#isLogged = true;
      this.#options.log.warn({ topic, partition, suppressed }, 'a partition is paused: the bus refuses messages');
    });
  }
}
