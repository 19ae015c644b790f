import { setTimeout as delay } from 'node:timers/promises';
import type { SampleRecord, Samples } from '../graph-parts.ts';
import { withBigInts } from '../../base/json/exact-numbers.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';

const LOG_WINDOW_MS = 10_000;

/** Each start of the embedded mode, and each check, has the same sample records. */
export const SEED = 1;

/** Problems of records that are remembered, so that each is logged once. */
const MAX_PROBLEMS = 100;

/** A sample record, as Kafka would carry it. */
export interface EncodedSample {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
}

export interface SamplerOptions {
  readonly samples: Pick<Samples, 'records'>;
  /** Why nobody would receive a record, which is then not processed. */
  readonly problemOf: (record: SampleRecord) => string | undefined;
  /** Pause after each record. */
  readonly intervalMs: number;
  /** Processes a record as if Kafka had delivered it. The next record waits for it. The signal is aborted when the sampler closes. */
  readonly process: (record: EncodedSample, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** Produces a graph's sample records one after another, in place of Kafka. */
export class Sampler {
  readonly #options: SamplerOptions;
  readonly #closed = new AbortController();
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  readonly #problems = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Sends the first record at once. Logs records that fail, and samples that fail or end. */
  start(): void {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#options.log.error(
        { err: error },
        'records() of the samples failed: no further record comes; correct it in samples.ts',
      );
    });
  }

  /** Resolves when the current record is processed. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { samples, intervalMs, log } = this.#options;
    const { signal } = this.#closed;
    let count = 0;
    for (const record of samples.records(SEED)) {
      count++;
      if (signal.aborted) return;
      await this.#take(record, signal);
      await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    }
    log.info(`the graph's samples have ended after ${count} records; no more sample records`);
  }

  async #take(record: SampleRecord, signal: AbortSignal): Promise<void> {
    const { problemOf, process, log } = this.#options;
    const problem = problemOf(record);
    if (problem !== undefined) return this.#warn(problem);
    try {
      await process(encoded(record), signal);
    } catch (error) {
      this.#failureLog.run('record', (suppressed) =>
        log.error(
          { err: error, topic: record.topic, suppressed },
          'processing a sample record failed; continuing with the next one',
        ),
      );
    }
  }

  #warn(problem: string): void {
    if (this.#problems.has(problem) || this.#problems.size === MAX_PROBLEMS) return;
    this.#problems.add(problem);
    this.#options.log.warn(problem);
  }
}

export function encoded({ topic, key, value }: SampleRecord): EncodedSample {
  return {
    topic,
    key: key === undefined ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(JSON.stringify(value, withBigInts)),
  };
}
