import { setTimeout as delay } from 'node:timers/promises';
import { isComplete } from '../../bus/state-fill.ts';
import type { StateFills } from '../../bus/state-fill.ts';

export interface StateCompletenessOptions {
  readonly fills: Pick<StateFills, 'read'>;
  /** Of the states that the graph keeps, by topic. */
  readonly signatures: ReadonlyMap<string, string>;
  /** The topic of a channel. */
  readonly topicOf: (channel: string) => string;
}

/** Until all states are complete, and from then on. */
const INTERVALS_MS = { incomplete: 1000, complete: 10_000 };

/**
 * Which topics have complete states: all of their partitions have been read from the beginning. Looked up every few seconds. A server that
 * has lost its data since the last look is known by its epoch.
 */
export class StateCompleteness {
  readonly #options: StateCompletenessOptions;
  /** By topic with complete states: its epochs. */
  readonly #complete = new Map<string, ReadonlySet<number>>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: StateCompletenessOptions) {
    this.#options = options;
  }

  /** Topics whose states are not complete, as far as is known. */
  get incomplete(): readonly string[] {
    return [...this.#options.signatures.keys()].filter((topic) => !this.#complete.has(topic));
  }

  /** Topics with states. */
  get topics(): readonly { readonly topic: string; readonly isComplete: boolean }[] {
    return Array.from(this.#options.signatures.keys(), (topic) => ({ topic, isComplete: this.#complete.has(topic) }));
  }

  /** Of the state of a channel that was read in this epoch (`History.epoch`). */
  isComplete(channel: string, epoch: number): boolean {
    return this.#complete.get(this.#options.topicOf(channel))?.has(epoch) === true;
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
      const ms = this.incomplete.length > 0 ? INTERVALS_MS.incomplete : INTERVALS_MS.complete;
      await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    const { fills, signatures } = this.#options;
    for (const [topic, signature] of signatures) {
      try {
        const known = await fills.read(topic);
        if (isComplete(known, signature)) this.#complete.set(topic, known.epochs);
        else this.#complete.delete(topic);
      } catch {
        return; // The bus logs its own outage, and what was known is kept.
      }
    }
  }
}
