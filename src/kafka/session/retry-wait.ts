import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { SchemaUnavailableError } from '../decoding/schema-errors.ts';
import type { SchemaId } from '../decoding/wire-format.ts';
import { partitionKey } from '../partition-key.ts';

const FIRST_DELAY_MS = 50;
const MAX_DELAY_MS = 1000;
const LOG_WINDOW_MS = 5000;
const SERVER_AWAY = { schema: undefined, isPending: false };

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
  readonly error: Error;
  /** Id of the schema that it waits for. */
  readonly schema: SchemaId | undefined;
  /** True if the log says that it is paused. */
  readonly isLogged: boolean;
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

  get partitions(): readonly Pick<Waiting, 'topic' | 'partition' | 'error' | 'schema'>[] {
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
    const { schema, isPending } = error instanceof SchemaUnavailableError ? error : SERVER_AWAY;
    const isLogged = this.#isLoggedFor(schema) || (!isPending && this.#logPause(topic, partition, schema, error));
    const timer = setTimeout(resume, delayMs);
    this.#waiting.set(key, { topic, partition, delayMs, resume, error, schema, isLogged, timer });
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

  /** One line is enough for a server that is away. The registry may also fail for one schema only: each schema has a line. */
  #isLoggedFor(schema: SchemaId | undefined): boolean {
    return [...this.#waiting.values()].some((waiting) => waiting.isLogged && waiting.schema === schema);
  }

  /** False: the line waits for the next retry, because there was one within the last 5 s. */
  #logPause(topic: string, partition: number, schema: SchemaId | undefined, { message }: Error): boolean {
    let isLogged = false;
    this.#window.run('paused', (suppressed) => {
      isLogged = this.#isLogged = true;
      const { log, reasons } = this.#options;
      log.warn({ topic, partition, schema, err: { message }, suppressed }, `a partition is paused: ${reasons.pause}`);
    });
    return isLogged;
  }
}
