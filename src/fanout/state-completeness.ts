import { setTimeout as delay } from 'node:timers/promises';
import { isComplete } from '../bus/state-fill.ts';
import type { StateFills } from '../bus/state-fill.ts';

export interface StateCompletenessOptions {
  readonly fills: Pick<StateFills, 'read'>;
  /** Of the states that the graph keeps, by topic. */
  readonly signatures: ReadonlyMap<string, string>;
  /** The topic of a channel. */
  readonly topicOf: (channel: string) => string;
}

/** Until all states are complete, and from then on. */
const INTERVALS_MS = { incomplete: 1000, complete: 10_000 };

/** Which topics have complete states: all of their partitions have been read from the beginning. Looked up every few seconds. */
export class StateCompleteness {
  readonly #options: StateCompletenessOptions;
  readonly #incomplete: Set<string>;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: StateCompletenessOptions) {
    this.#options = options;
    this.#incomplete = new Set(options.signatures.keys());
  }

  /** Topics whose states are not complete, as far as is known. */
  get incomplete(): readonly string[] {
    return [...this.#incomplete];
  }

  /** Of a channel with a state. */
  isComplete(channel: string): boolean {
    return !this.#incomplete.has(this.#options.topicOf(channel));
  }

  /** Resolves after the first look, however it ended; never rejects. */
  async start(): Promise<void> {
    await this.#look();
    this.#running = this.#repeat();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const ms = this.#incomplete.size > 0 ? INTERVALS_MS.incomplete : INTERVALS_MS.complete;
      await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { fills, signatures } = this.#options;
    for (const [topic, signature] of signatures) {
      try {
        if (isComplete(await fills.read(topic), signature)) this.#incomplete.delete(topic);
        else this.#incomplete.add(topic);
      } catch {
        return; // The bus logs its own outage, and what was known is kept.
      }
    }
  }
}
