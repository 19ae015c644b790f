import { setTimeout as delay } from 'node:timers/promises';
import type { Samples } from '../graph/graph.ts';
import type { Logger } from '../log.ts';

export interface SamplerOptions {
  readonly samples: Pick<Samples, 'records'>;
  /** The same records for the same seed. */
  readonly seed: number;
  /** Pause after each record. */
  readonly intervalMs: number;
  /** Takes a record where Kafka's would come in; the next one waits for it. The signal is aborted when the sampler is closed. */
  readonly process: (topic: string, value: Buffer, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

/** Feeds a graph's sample records into the path, one after another, as Kafka would carry them. */
export class Sampler {
  readonly #options: SamplerOptions;
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** The first record goes at once. A record that is refused, or samples that fail or end, are logged. */
  start(): void {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#options.log.error({ err: error }, "the graph's samples failed; no more sample records");
    });
  }

  /** Resolves when the record on its way has been processed. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { samples, seed, intervalMs, process, log } = this.#options;
    const { signal } = this.#closed;
    for (const { topic, value } of samples.records(seed)) {
      if (signal.aborted) return;
      try {
        await process(topic, Buffer.from(JSON.stringify(value)), signal);
      } catch (error) {
        log.error({ err: error, topic }, 'a sample record was not processed; going on with the next');
      }
      await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    }
    log.info("the graph's samples have ended; no more sample records");
  }
}
